package sshdoor

import (
	"context"
	"testing"
	"time"
)

// Who is in trouble waits for as long as what was read of them takes at one rate, but for no more than some seconds, and for
// a minute. Nobody else waits.
func TestWhoIsInTroublePaysForWhatIsRead(t *testing.T) {
	t.Parallel()
	b := newBrake(Limits{Troubled: 1000})
	now := time.Unix(1_000_000, 0)
	owes := func(what, person string, at time.Time, want time.Duration) {
		t.Helper()
		if d := b.debt(person, at); d != want {
			t.Errorf("%s: %v, want %v", what, d, want)
		}
	}
	b.charge("ana", 1<<20, now)
	owes("without trouble", "ana", now, 0)
	b.trouble("ana", now)
	owes("before anything more", "ana", now, 0)
	for range 3 {
		b.charge("ana", 500, now)
	}
	owes("after three reads", "ana", now, 1500*time.Millisecond)
	owes("a second later", "ana", now.Add(time.Second), 500*time.Millisecond)
	owes("another person", "bo", now, 0)
	b.charge("ana", 1<<30, now.Add(2*time.Second))
	owes("after very much", "ana", now.Add(2*time.Second), mostDebt)
	if n := b.count(now.Add(troubled)); n != 1 {
		t.Errorf("%d pay", n)
	}
	late := now.Add(troubled + 1)
	b.charge("ana", 1<<20, late)
	owes("when it is over", "ana", late, 0)
	if n := b.count(late); n != 0 {
		t.Errorf("%d pay when it is over", n)
	}
}

// Whoever waits pays what was owed when they came, whatever others of theirs go on sending.
func TestNobodyWaitsForWhatComesLater(t *testing.T) {
	t.Parallel()
	b := newBrake(Limits{Troubled: 1000})
	b.trouble("ana", time.Now())
	b.charge("ana", 100, time.Now())
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		for ctx.Err() == nil {
			b.charge("ana", 10_000, time.Now())
			time.Sleep(time.Millisecond)
		}
	}()
	if err := b.wait(ctx, "ana"); err != nil {
		t.Error(err)
	}
}

// A free place is taken also by who comes when the time to wait is over.
func TestAFreePlaceIsNotRefused(t *testing.T) {
	t.Parallel()
	for range 100 {
		late := time.NewTimer(0)
		time.Sleep(time.Microsecond)
		if err := take(t.Context(), make(chan struct{}, 1), late, "full"); err != nil {
			t.Fatal(err)
		}
	}
}
