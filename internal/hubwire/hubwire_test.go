package hubwire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
)

func TestAnEnrolmentBelongsToOneConnection(t *testing.T) {
	key := device.FromPrivate(eventtest.Key("laptop"))
	sent, err := json.Marshal(hubwire.NewEnrolRequest(key, "ana's laptop", []byte("session one")))
	if err != nil {
		t.Fatal(err)
	}
	var r hubwire.EnrolRequest
	if err := json.Unmarshal(sent, &r); err != nil {
		t.Fatal(err)
	}
	got, err := r.Key([]byte("session one"))
	if err != nil || !got.Equal(key.Public()) {
		t.Fatalf("on its own connection: %v", err)
	}
	if _, err := r.Key([]byte("session two")); !errors.Is(err, hubwire.ErrEnrolment) {
		t.Errorf("replayed on another connection: %v", err)
	}
	if _, err := r.Key(nil); !errors.Is(err, hubwire.ErrEnrolment) {
		t.Errorf("without a session: %v", err)
	}
}

func TestAnEnrolmentProvesThatTheSenderHoldsTheKey(t *testing.T) {
	good := hubwire.NewEnrolRequest(device.FromPrivate(eventtest.Key("laptop")), "laptop", []byte("s"))
	for name, spoil := range map[string]func(*hubwire.EnrolRequest){
		"another's key":   func(r *hubwire.EnrolRequest) { r.DeviceKey = device.FromPrivate(eventtest.Key("b")).Public() },
		"short key":       func(r *hubwire.EnrolRequest) { r.DeviceKey = r.DeviceKey[:31] },
		"no signature":    func(r *hubwire.EnrolRequest) { r.Signature = nil },
		"control in name": func(r *hubwire.EnrolRequest) { r.Name = "a\x1b[31m" },
		"no name":         func(r *hubwire.EnrolRequest) { r.Name = "" },
	} {
		r := good
		spoil(&r)
		if _, err := r.Key([]byte("s")); !errors.Is(err, hubwire.ErrEnrolment) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnyMachineNameBecomesADeviceName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		r := hubwire.NewEnrolRequest(device.FromPrivate(eventtest.Key("laptop")), name, []byte("s"))
		if _, err := r.Key([]byte("s")); err != nil {
			t.Fatalf("%q became %q: %v", name, r.Name, err)
		}
	})
	if got := hubwire.DeviceName("ana-t14.local"); got != "ana-t14.local" {
		t.Errorf("a plain name became %q", got)
	}
}

func refusals() *rapid.Generator[hubwire.Refusal] {
	return rapid.Custom(func(t *rapid.T) hubwire.Refusal {
		id := event.NewID(time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "ms")))
		var commit commitform.Hash
		copy(commit[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "commit"))
		return hubwire.Refusal{
			Rule:   rapid.SampledFrom([]string{"", "secret", "github-token", "commit-form"}).Draw(t, "rule"),
			Field:  rapid.SampledFrom([]string{"", "payload.content", "tags[3]", "message"}).Draw(t, "field"),
			Commit: commit,
			Path:   rapid.SampledFrom([]string{"", commitform.Path(id), "cairn.json"}).Draw(t, "path"),
			Event:  rapid.SampledFrom([]event.ID{"", id}).Draw(t, "id"),
		}
	})
}

func TestARefusalReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := refusals().Draw(t, "refusal")
		got, ok := hubwire.ParseRefusal(r.String())
		if !ok || got != r {
			t.Fatalf("%s reads as %+v, %v", r, got, ok)
		}
	})
}

func TestARefusalCarriesNoWordOfTheFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Z]{3}[ -~]{5,40}`).Draw(t, "word")
		line := hubwire.Refusal{Rule: word, Field: word, Path: "events/" + word + ".json", Event: event.ID(word)}.String()
		if line != "cairn: refused rule=- field=- commit=- path=- id=-" {
			t.Fatalf("%q came through: %s", word, line)
		}
	})
}

func FuzzParseRefusal(f *testing.F) {
	f.Add("cairn: refused rule=secret field=payload.content commit=" + strings.Repeat("0a", 20) + " path=cairn.json id=-")
	f.Add("cairn: refused rule=- field=- commit=- path=- id=-")
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := hubwire.ParseRefusal(line)
		if ok && (r.String() != line || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n")) {
			t.Fatalf("%q read as %+v", line, r)
		}
	})
}

func TestAFingerprintIsTheOneThatSSHPrints(t *testing.T) {
	key := device.FromPrivate(eventtest.Key("laptop"))
	signer, err := key.SSH()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hubwire.Fingerprint(key.Public()), ssh.FingerprintSHA256(signer.PublicKey()); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}
