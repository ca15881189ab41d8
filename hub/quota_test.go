package hub

import (
	"testing"
	"time"

	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
)

// A device that has written its share of the hour waits until the hour has gone
// by; a backlog goes in one push, and others are not held up.
func TestADeviceThatHasWrittenItsShareWaits(t *testing.T) {
	p, err := policy.Read(2, []byte("version: 1\nteam: acme\nadmins: [ana]\nwrites_per_hour: 3\n"), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	at := pass{force: force{Policy: p}}
	var q quota
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	laptop, phone := eventtest.Device("laptop"), eventtest.Device("phone")
	may := func(want bool, space string, after time.Duration) {
		t.Helper()
		err := q.mayWrite(at, laptop, space, now.Add(after))
		if (err == nil) != want {
			t.Errorf("after %s in %s: %v", after, space, err)
		}
		if p := problem.Of(err); p != nil && (p.Code != problem.Busy || p.Rule != hubwire.RuleWrites) {
			t.Errorf("refused with %+v", p)
		}
	}
	may(true, "team", 0)
	q.add(at, laptop, "team", 2, now)
	may(true, "team", time.Minute)
	q.add(at, laptop, "team", 500, now.Add(time.Minute))
	may(false, "team", 2*time.Minute)
	may(true, "other", 2*time.Minute)
	may(false, "team", time.Hour)
	may(true, "team", time.Hour+time.Minute)
	if err := q.mayWrite(at, phone, "team", now); err != nil {
		t.Errorf("another device: %v", err)
	}
	if err := q.mayWrite(pass{force: force{Policy: policy.Default()}}, laptop, "team", now); err != nil {
		t.Errorf("without a policy: %v", err)
	}
}
