package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

func TestEveryEventReadsBackByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := eventtest.Signed(eventtest.Events().Draw(t, "event"), "desktop")
		b, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.Decode(b)
		if err != nil {
			t.Fatalf("decode %s: %v", b, err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("read back\n%+v\nwant\n%+v", got, e)
		}
		if err := got.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoOtherBytesStandForAnEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := event.Encode(eventtest.Signed(eventtest.Events().Draw(t, "event"), "desktop"))
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		changed := bytes.Clone(b)
		changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		e, err := event.Decode(changed)
		if err == nil && e.Verify() == nil {
			t.Fatalf("byte %d of\n%s\nmay be changed unnoticed", at, b)
		}
	})
}

func TestTheFormLeavesNoRoomForMore(t *testing.T) {
	b, err := event.Encode(eventtest.Note("x"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(b)
	for name, bad := range map[string]string{
		"unknown member":         strings.Replace(s, `"schema"`, `"extra": 1, "schema"`, 1),
		"unknown payload member": strings.Replace(s, `"summary"`, `"extra": "x", "summary"`, 1),
		"duplicate member":       strings.Replace(s, ` "space"`, ` "space": "team",`+"\n"+` "space"`, 1),
		"other letter case":      strings.Replace(s, `"space"`, `"Space"`, 1),
		"escaped letter":         strings.Replace(s, `"personal"`, `"\u0070ersonal"`, 1),
		"space at the end":       s + " ",
		"second document":        s + s,
		"no newline":             strings.TrimSuffix(s, "\n"),
		"byte order mark":        "\ufeff" + s,
		"compact":                strings.ReplaceAll(s, "\n ", ""),
	} {
		if bad == s {
			t.Fatalf("%s: the case does not change the file", name)
		}
		if _, err := event.Decode([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestFaultsAreNamedByFieldAndNeverQuoted(t *testing.T) {
	private := "do-not-" + "print-me"
	past, later := event.NewTime(time.Unix(1, 0)), event.NewTime(time.Unix(2, 0))
	cases := map[string]func(*event.Event){
		"space":              func(e *event.Event) { e.Space = "No Such " + private },
		"id":                 func(e *event.Event) { e.ID = event.ID(private) },
		"subject":            func(e *event.Event) { e.Subject.ID = private },
		"layer":              func(e *event.Event) { e.Layer = event.Layer(private) },
		"actor.device":       func(e *event.Event) { e.Actor.Device = event.DeviceID(private) },
		"authority.source":   func(e *event.Event) { e.Authority.Source = private },
		"tags[1]":            func(e *event.Event) { e.Tags = []string{"a", private + "\n"} },
		"payload.summary":    func(e *event.Event) { e.Payload.(*event.Observe).Summary = private + "\n" },
		"payload.supersedes": func(e *event.Event) { e.Payload.(*event.Observe).Supersedes = event.ID(private) },
		"payload.content":    func(e *event.Event) { e.Payload.(*event.Observe).Content = private + "\xff" },
		"text":               func(e *event.Event) { e.Payload.(*event.Observe).Content = strings.Repeat(private, 1e5) },
		"payload.valid_to": func(e *event.Event) {
			setPayload(e, &event.Claim{SchemaType: "f", Key: "k", Content: "c", ValidFrom: &later, ValidTo: &past})
		},
		"payload.content_hash": func(e *event.Event) {
			setPayload(e, &event.SkillEdit{SkillName: "s", File: "f", EditKind: "create", ContentHash: private})
		},
		"payload.direction": func(e *event.Event) { setPayload(e, &event.Archive{Target: e.ID, Direction: private}) },
		"payload.reason":    func(e *event.Event) { setPayload(e, &event.Redact{Target: e.ID}) },
		"payload.support_refs[0]": func(e *event.Event) {
			setPayload(e, &event.Claim{SchemaType: "f", Key: "k", Content: "c", SupportRefs: []event.Support{{}}})
		},
	}
	for field, spoil := range cases {
		e := eventtest.Note("x")
		spoil(&e)
		err := e.Validate()
		if err == nil {
			t.Errorf("%s: no error", field)
			continue
		}
		if !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: error %q names another field", field, err)
		}
		if strings.Contains(err.Error(), private) {
			t.Errorf("%s: error %q quotes the text", field, err)
		}
	}
}

func setPayload(e *event.Event, p event.Payload) {
	e.Payload, e.Kind, e.Subject = p, p.Kind(), p.Subject()
}

func TestDecodeErrorsNeverQuoteTheInput(t *testing.T) {
	private := "do-not-" + "print-me"
	for _, in := range []string{
		private,
		`{"schema": 1, "kind": "` + private + `"}`,
		`{"schema": "` + private + `"}`,
		`{"schema": 1, "kind": "observe", "` + private + `": 1}`,
		`{"schema": 1, "kind": "observe", "observed": "` + private + `"}`,
		`{"schema": 1, "kind": "observe", "payload": {"` + private + `": 1}}`,
	} {
		_, err := event.Decode([]byte(in))
		if err == nil || strings.Contains(err.Error(), private) {
			t.Errorf("decode of %q: error %v", in, err)
		}
	}
}

func TestNewerSchemaIsItsOwnError(t *testing.T) {
	b, err := event.Encode(eventtest.Note("x"))
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(b, []byte(`"schema": 1`), []byte(`"schema": 2, "mood": "new"`), 1)
	_, err = event.Decode(newer)
	if e, ok := errors.AsType[*event.NewerSchemaError](err); !ok || e.Schema != 2 || e.ID == "" {
		t.Fatalf("got %v", err)
	}
}

func TestASignatureBindsEventAndDevice(t *testing.T) {
	e := eventtest.Signed(eventtest.Note("x"), "laptop")
	other := e
	other.Payload = &event.Observe{Summary: "a note", Content: "y"}
	stolen := e
	stolen.Actor.Device = eventtest.Device("desktop")
	unsigned := eventtest.Note("x")
	for name, c := range map[string]struct {
		e    event.Event
		want error
	}{
		"as signed":      {e, nil},
		"other text":     {other, event.ErrBadSignature},
		"other device":   {stolen, event.ErrBadSignature},
		"no signature":   {unsigned, event.ErrUnsigned},
		"signature only": {event.Event{Sig: e.Sig}, event.ErrBadSignature},
	} {
		if err := c.e.Verify(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Every string that a writer can choose must come up in Fields, also in
// members added later.
func TestFieldsHoldEveryString(t *testing.T) {
	for _, k := range event.Kinds() {
		p := event.NewPayload(k)
		n := 0
		mark := func() string { n++; return fmt.Sprintf("marker-%d", n) }
		fill(reflect.ValueOf(p).Elem(), mark)
		e := event.Event{Payload: p}
		fill(reflect.ValueOf(&e).Elem(), mark)
		fields, err := event.Fields(e)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, f := range fields {
			seen[f.Value] = true
		}
		missing := 0
		for i := 1; i <= n; i++ {
			if !seen[fmt.Sprintf("marker-%d", i)] {
				missing++
			}
		}
		// id, kind, layer, classification, actor.kind, actor.device and the
		// two members of sig are the ones left out on purpose.
		if missing != 8 {
			t.Errorf("%s: %d of %d strings are not listed, want the 8 of fixed form", k, missing, n)
		}
	}
}

func fill(v reflect.Value, mark func() string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(mark())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[event.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), mark)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), mark)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), mark)
	}
}
