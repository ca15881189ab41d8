package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// slowEncode is what Encode promises, by way of encoding/json.
func slowEncode(e event.Event) ([]byte, error) {
	if e.Tags == nil {
		e.Tags = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(e)
	return b.Bytes(), err
}

// slowDecode is what Decode promises: reading with encoding/json, writing
// again, and comparing.
func slowDecode(b []byte) (event.Event, error) {
	if !utf8.Valid(b) {
		return event.Event{}, &event.NotUTF8Error{Field: "event"}
	}
	e, err := slowRead(b)
	if err != nil {
		return event.Event{}, err
	}
	again, err := slowEncode(e)
	if err != nil || !bytes.Equal(b, again) {
		return event.Event{}, event.ErrNotCanonical
	}
	return e, e.Validate()
}

func slowRead(b []byte) (event.Event, error) {
	var head struct {
		Schema int        `json:"schema"`
		ID     event.ID   `json:"id"`
		Kind   event.Kind `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return event.Event{}, slowFault(err)
	}
	if head.Schema > event.Schema {
		return event.Event{}, &event.NewerSchemaError{ID: head.ID, Schema: head.Schema}
	}
	payload := event.NewPayload(head.Kind)
	if payload == nil {
		return event.Event{}, &event.InvalidError{Field: "kind", Reason: "no such kind of event"}
	}
	var s struct {
		event.Event
		Payload json.RawMessage `json:"payload"`
	}
	if err := slowStrict(b, &s); err != nil {
		return event.Event{}, err
	}
	if err := slowStrict(s.Payload, payload); err != nil {
		return event.Event{}, err
	}
	s.Event.Payload = payload
	return s.Event, nil
}

func slowStrict(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return slowFault(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return event.ErrNotCanonical
	}
	return nil
}

// slowFault says which of the documented errors a fault in the JSON gives.
func slowFault(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return err
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typ.Field != "" {
		return &event.InvalidError{Field: typ.Field, Reason: "has the wrong type"}
	} else if ok {
		return &event.InvalidError{Field: "event", Reason: "has the wrong type"}
	}
	return &event.InvalidError{Field: "event", Reason: "has an unknown or malformed member"}
}

// agree fails unless Decode and slowDecode say the same of b.
func agree(t interface{ Fatalf(string, ...any) }, b []byte) {
	want, wantErr := slowDecode(b)
	got, err := event.Decode(b)
	if !sameFault(err, wantErr) {
		t.Fatalf("decode of %q: error %v, want %v", b, err, wantErr)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("decode of %q:\n%+v\nwant\n%+v", b, got, want)
	}
}

func sameFault(got, want error) bool {
	if _, ok := errors.AsType[*json.SyntaxError](want); ok {
		return got != nil && strings.HasPrefix(got.Error(), "event is not JSON")
	}
	return reflect.DeepEqual(got, want)
}

func TestDecodeIsReadingWritingAndComparing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := event.Encode(drawn(t))
		if err != nil {
			t.Fatalf("%v", err)
		}
		agree(t, b)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b = changed(t, b)
			agree(t, b)
		}
	})
}

func TestEncodeIsPlainJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawn(t)
		e.Project = string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) // hardly ever UTF-8
		got, err := event.Encode(e)
		want, wantErr := slowEncode(e)
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Fatalf("encode of %+v (%v, %v):\n%s\nwant\n%s", e, err, wantErr, got, want)
		}
	})
}

// A field that members.go forgets would be lost.
func TestEveryFieldIsWrittenAndRead(t *testing.T) {
	for _, k := range event.Kinds() {
		e := event.Event{Payload: event.NewPayload(k)}
		fill(reflect.ValueOf(&e).Elem(), func() string { return "x" })
		fill(reflect.ValueOf(e.Payload).Elem(), func() string { return "y" })
		e.Kind = k
		got, err := event.Encode(e)
		want, wantErr := slowEncode(e)
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Errorf("encode (%v, %v):\n%s\nwant\n%s", err, wantErr, got, want)
		}
		agree(t, got)
	}
}

func TestEncodeRefusesWhatIsNoNumber(t *testing.T) {
	zero := 0.0
	score := 1 / zero
	e := eventtest.Note("x")
	e.Authority.Score = &score
	if _, err := event.Encode(e); err == nil {
		t.Fatal("an infinite score is written")
	}
}

// drawn is a valid event or one with members that valid events hardly have.
func drawn(t *rapid.T) event.Event {
	e := eventtest.Events().Draw(t, "event")
	if rapid.Bool().Draw(t, "signed") {
		e = eventtest.Signed(e, "desktop")
	}
	e.Parent = rapid.SampledFrom([]event.ID{"", e.ID}).Draw(t, "parent")
	e.Schema = rapid.SampledFrom([]int{1, 1, 1, 0, -1, 2}).Draw(t, "schema")
	e.Subject.ID += rapid.SampledFrom([]string{"", "", "<&>", "\u2028\u2029", "\ufffd", "\x7f"}).Draw(t, "oddity")
	switch p := e.Payload.(type) {
	case *event.Redact:
		p.RedactedSpans = rapid.SampledFrom([][]event.Span{nil, {}, {{}, {}}}).Draw(t, "spans")
	case *event.Claim:
		p.ValidFrom = &e.Observed
		p.SupportRefs = rapid.SampledFrom([][]event.Support{nil, {}, p.SupportRefs}).Draw(t, "support")
	}
	return e
}

// changed is b with one thing about it that is different: nearly always no
// longer canonical, often still JSON, sometimes still an event.
func changed(t *rapid.T, b []byte) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
	j := rapid.IntRange(0, len(lines)-1).Draw(t, "other line")
	at := rapid.IntRange(0, len(b)).Draw(t, "at")
	switch rapid.IntRange(0, 5).Draw(t, "change") {
	case 0: // a member twice, or lines in another order
		return bytes.Join(append(lines[:i:i], append([][]byte{lines[j]}, lines[i:]...)...), nil)
	case 1: // a member less
		return bytes.Join(append(lines[:i:i], lines[i+1:]...), nil)
	case 2:
		lines[i], lines[j] = lines[j], lines[i]
		return bytes.Join(lines, nil)
	case 3: // cut off, or something in between
		return append(b[:at:at], b[rapid.IntRange(at, len(b)).Draw(t, "to"):]...)
	case 4:
		return append(b[:at:at], append([]byte(rapid.SampledFrom(oddities).Draw(t, "oddity")), b[at:]...)...)
	default:
		old := rapid.SampledFrom(oddities).Draw(t, "old")
		return bytes.Replace(b, []byte(old), []byte(rapid.SampledFrom(oddities).Draw(t, "new")), 1)
	}
}

var oddities = []string{
	" ", "\n", ",", `"`, "{", "}", "[", "]", "[]", "[\n ]", "null", "0", "-", "1", "2", "1.0", "1e0", "00", `""`, "true", "\\",
	`\u0041`, `\u000a`, `\u000A`, `\n`, `\/`, `\u2028`, `\ufffd`, `\ud83d\ude00`, "\u2028", "\ufffd", "\xff", "\x00", "\x7f", "\ufeff",
	"id", "ID", "tags", "sig", `"extra": 1, `, `"parent": null,`, `"parent": "",`, "observe", "claim", "redact", "Z", ".000", "+",
}

func FuzzDecode(f *testing.F) {
	for _, k := range event.Kinds() {
		e := eventtest.Of(event.NewPayload(k))
		b, err := event.Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, err := event.Encode(eventtest.Signed(eventtest.Note("fuzz\n\u2028<"), "laptop"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { agree(t, b) })
}
