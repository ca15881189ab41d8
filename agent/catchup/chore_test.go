package catchup

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// worked is what somebody who does a chore calls, in this order.
type worked interface {
	want() (start bool)
	next() bool
	begin()
}

// neglected plays any order of wants and of steps of whoever does the work, and
// says whether a want was never followed by the beginning of work.
func neglected(t *rapid.T, c worked) error {
	open, workers := false, 0
	working := false
	want := func() {
		open = true
		if c.want() {
			workers++
		}
	}
	step := func() {
		switch {
		case workers == 0:
		case working:
			working = false
		case c.next():
			if rapid.Bool().Draw(t, "wanted during the pause") {
				want()
			}
			c.begin()
			open, working = false, true
		default:
			workers--
		}
	}
	for _, wanted := range rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(t, "wants and steps") {
		if wanted {
			want()
		} else {
			step()
		}
		if workers > 1 {
			return errors.New("two do the same work at once")
		}
	}
	for range 10 {
		step()
	}
	if open || workers > 0 {
		return errors.New("somebody waits for work that nobody begins")
	}
	return nil
}

func TestAChoreIsDoneAfterWhoeverWantedItLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if err := neglected(t, &chore{}); err != nil {
			t.Fatal(err)
		}
	})
}

// A hasty chore starts somebody for each want.
type hasty struct{ chore }

func (h *hasty) want() bool { h.chore.want(); return true }

// A dozy chore does not hear a want while somebody is at work.
type dozy struct{ chore }

func (d *dozy) want() bool {
	start := d.chore.want()
	d.chore.wanted = start
	return start
}

func TestABadChoreIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func() worked{
		"hasty": func() worked { return &hasty{} },
		"dozy":  func() worked { return &dozy{} },
	} {
		found := false
		for seed := 0; seed < 50 && !found; seed++ {
			rapid.Custom(func(t *rapid.T) bool {
				found = found || neglected(t, bad()) != nil
				return found
			}).Example(seed)
		}
		if !found {
			t.Errorf("a %s one passes", name)
		}
	}
}

// Whoever hurries ends the pause, also one that has not begun; the next one is
// a pause again.
func TestAHurryIsNotLost(t *testing.T) {
	t.Parallel()
	over := func(pause <-chan struct{}) bool {
		select {
		case <-pause:
			return true
		default:
			return false
		}
	}
	c := &chore{}
	if over(c.pause()) {
		t.Error("a pause is over though nobody hurries")
	}
	c.begin()
	c.hurry()
	c.hurry()
	if !over(c.pause()) {
		t.Error("a hurry before the pause is lost")
	}
	c.begin()
	pause := c.pause()
	c.hurry()
	if !over(pause) {
		t.Error("a hurry during the pause is lost")
	}
	c.begin()
	c.hurry() // while the work is done
	if !over(c.pause()) {
		t.Error("a hurry during the work is lost")
	}
	c.begin()
	if over(c.pause()) {
		t.Error("a hurry counts twice")
	}
}
