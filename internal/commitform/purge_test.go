package commitform_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

func signedPurge(t testing.TB) commitform.Purge {
	t.Helper()
	key := eventtest.Key("hub")
	p := commitform.Purge{
		Space: event.NewID(time.Now()), Epoch: 3, At: event.NewTime(time.Now()), By: eventtest.Device("admin"),
		From: commitform.Hash{1}, To: commitform.Hash{2},
	}
	for i := range 3 { // in the wrong order
		p.Events = append(p.Events, commitform.Purged{ID: event.NewID(time.Now().Add(-time.Duration(i) * time.Hour)), Blob: commitform.Hash{byte(i)}})
	}
	return p.Sign(key.Public().(ed25519.PublicKey), func(b []byte) []byte { return ed25519.Sign(key, b) })
}

func TestAPurgeIsReadBackAndBoundByItsSignature(t *testing.T) {
	p := signedPurge(t)
	b := commitform.EncodePurge(p)
	got, err := commitform.DecodePurge(b)
	if err != nil || !bytes.Equal(commitform.EncodePurge(got), b) || got.Epoch != 3 || len(got.Events) != 3 {
		t.Fatalf("read back %+v, %v", got, err)
	}
	text := string(b)
	for name, bad := range map[string]string{
		"empty":             "",
		"another epoch":     strings.Replace(text, `"epoch": 3`, `"epoch": 4`, 1),
		"another head":      strings.Replace(text, `"to": "02`, `"to": "03`, 1),
		"nobody's order":    strings.Replace(text, string(p.By), "", 1),
		"another event":     strings.Replace(text, string(p.Events[0].ID), string(p.Events[1].ID), 1),
		"another file":      strings.Replace(text, `"blob": "02`, `"blob": "05`, 1),
		"a word more":       strings.Replace(text, `"epoch"`, `"why": "x", "epoch"`, 1),
		"without a newline": strings.TrimSpace(text),
		"unsigned":          string(commitform.EncodePurge(commitform.Purge{Space: p.Space, Epoch: 1, At: p.At, Events: p.Events})),
	} {
		if bad == text {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := commitform.DecodePurge([]byte(bad)); !errors.Is(err, commitform.ErrPurge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := strings.Replace(text, `"format": 1`, `"format": 2`, 1)
	if _, err := commitform.DecodePurge([]byte(newer)); err == nil || errors.Is(err, commitform.ErrPurge) {
		t.Errorf("a newer format: %v", err)
	}
}

func TestTheCommitOfAPurge(t *testing.T) {
	p := signedPurge(t)
	first := string(commitform.PurgeCommit(commitform.Hash{7}, commitform.Hash{}, p))
	next := string(commitform.PurgeCommit(commitform.Hash{7}, commitform.Hash{8}, p))
	if strings.Contains(first, "parent") || !strings.Contains(next, "\nparent 08") || !strings.HasSuffix(next, "\n\npurge: 3\n") {
		t.Errorf("first\n%s\nnext\n%s", first, next)
	}
	if _, ok := commitform.EventOf([]byte(next)); ok {
		t.Error("it is taken for an event's commit")
	}
}

func TestAMovedCommitIsTheOneThatItsEventMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := commitform.HeadOf(eventtest.Events().Draw(t, "event"))
		raw := commitform.Event(commitform.Hash{1}, commitform.Hash{2}, h)
		moved := commitform.Moved(raw, commitform.Hash{3}, commitform.Hash{4})
		if want := commitform.Event(commitform.Hash{3}, commitform.Hash{4}, h); !bytes.Equal(moved, want) {
			t.Fatalf("moved\n%s\nwant\n%s", moved, want)
		}
		if id, ok := commitform.EventOf(moved); !ok || id != h.ID {
			t.Fatalf("it is the commit of %q", id)
		}
	})
}

func FuzzDecodePurge(f *testing.F) {
	f.Add(commitform.EncodePurge(signedPurge(f)))
	f.Add([]byte(`{"format":1,"events":[{}],"sig":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := commitform.DecodePurge(b)
		if err == nil && !bytes.Equal(commitform.EncodePurge(p), b) {
			t.Errorf("%q is read, and written in another way", b)
		}
	})
}
