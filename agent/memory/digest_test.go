package memory_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
)

// A digest is kept for the next that asks. It must not outlive what it says.
func TestTheDigestFollowsEveryChange(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	h := newHome(t, func(o *memory.Options) { o.Now = now })
	says := func(words string, want bool) {
		t.Helper()
		for range 2 {
			digest, err := h.Digest(t.Context(), 0)
			if err != nil || strings.Contains(digest, words) != want {
				t.Errorf("with %q %v: %q, %v", words, want, digest, err)
			}
		}
	}
	says("badger", false)
	noon := event.NewTime(now().Add(time.Hour))
	h.act(&event.Claim{Key: "lunch", Content: "badger stew", ValidTo: &noon})
	archived, redacted, withheld := h.note("a badger put away"), h.note("a badger hidden"), h.note("a badger with a fault")
	for _, words := range []string{"lunch", "put away", "hidden", "fault"} {
		says(words, true)
	}
	h.archive(archived)
	says("put away", false)
	h.redact(redacted)
	says("hidden", false)
	if err := h.Withhold(t.Context(), "personal", api.Refusal{ID: withheld, At: noon, Space: "personal", By: "machine", Rule: "fish"}); err != nil {
		t.Fatal(err)
	}
	says("fault", false)
	says("lunch", true)
	ahead.Store(int64(2 * time.Hour))
	says("lunch", false)
	ahead.Store(0)
	says("lunch", true)
	if short, err := h.Digest(t.Context(), 40); err != nil || len(short) > 40 {
		t.Errorf("a shorter one is %q, %v", short, err)
	}
}
