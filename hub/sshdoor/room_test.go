package sshdoor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/sshdoor"
	"cairn/internal/memuse"
	"cairn/internal/problem"
)

const window = 2 << 20 // that the library keeps of what a client sends to one session

// begin starts a command on a session of its own.
func (c *caller) begin(line string) (*gossh.Session, error) {
	s, err := c.NewSession()
	if err == nil {
		err = s.Start(line)
	}
	return s, err
}

// One person's sessions take the room of one person, from however many devices and connections, and say why the next is
// refused. Nobody else notices.
func TestRoomForUnreadInputIsSharedByPersonAndHub(t *testing.T) {
	t.Parallel()
	const push = "git-receive-pack 'team'"
	limits := sshdoor.Limits{Room: 3 * window, RoomPerson: 2 * window, Line: 200 * time.Millisecond}
	h := opened(t, limits, untilCanceled, "laptop", "desktop")
	h.enrolFor(t, "bo", "tower", "tablet")
	var open []*gossh.Session
	for _, step := range []struct{ device, full string }{
		{"laptop", ""}, {"desktop", ""}, {"desktop", "for one person, 4 MB"}, {"tower", ""}, {"tablet", "all sessions together"},
	} {
		s, err := h.as(t, step.device).begin(push)
		if step.full == "" && err != nil {
			t.Fatalf("%s: %v", step.device, err)
		}
		if step.full == "" {
			open = append(open, s)
			continue
		}
		refused, ok := err.(*gossh.OpenChannelError)
		if !ok || refused.Reason != gossh.ResourceShortage || !strings.Contains(refused.Message, step.full) {
			t.Errorf("%s: %v", step.device, err)
		}
	}
	if got := h.Tally(); got.Room != 3*window || got.Unopened != 2 {
		t.Errorf("%+v", got)
	}
	for _, s := range open {
		s.Close()
	}
	eventually(t, func() bool { return h.Tally().Room == 0 })
	if _, err := h.as(t, "desktop").begin(push); err != nil {
		t.Errorf("after the others have ended: %v", err)
	}
}

// Whoever comes when there is no room waits in line, and commands that read nothing take none.
func TestSessionsWaitForRoom(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{Room: window, Line: time.Minute}, untilCanceled, "laptop")
	c := h.as(t, "laptop")
	for range 5 {
		if _, err := c.begin("watch team"); err != nil {
			t.Fatal(err)
		}
	}
	first, err := c.begin("git-receive-pack 'team'")
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan error, 1)
	go func() {
		_, err := h.as(t, "laptop").begin("git-receive-pack 'team'")
		next <- err
	}()
	eventually(t, func() bool { return h.Tally().Open == 2 })
	first.Close()
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// The next session of who is in trouble is not opened before what was read is paid for; that of others is.
func TestWhoIsInTroubleWaitsAtTheDoor(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{Troubled: 1}, func(_ context.Context, s *sshdoor.Session) error {
		if s.Command.Name == sshdoor.ReceivePack {
			s.Trouble()
			_, err := s.Stream.Read(make([]byte, 1<<10))
			return err
		}
		return sayWho(context.Background(), s)
	}, "laptop", "desktop")
	h.enrolFor(t, "bo", "tower")
	s, err := h.as(t, "laptop").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdin = strings.NewReader("much")
	if err := s.Run("git-receive-pack 'team'"); err != nil {
		t.Fatal(err)
	}
	next := make(chan string, 2)
	for _, name := range []string{"desktop", "tower"} {
		c := h.as(t, name)
		go func() {
			out, _, _ := c.run(t, "whoami")
			next <- out
		}()
	}
	if first, second := <-next, <-next; first != "tower" || second != "desktop" {
		t.Errorf("first %s, then %s", first, second)
	}
	if got := h.Tally(); got.Slowed != 1 {
		t.Errorf("%+v", got)
	}
}

// Without a bound on the room, one key with many connections fills the memory.
func TestUnreadInputOfOneKeyIsBounded(t *testing.T) {
	const most, connections, sessions = 88 << 20, 5, 12
	junk := make([]byte, window) // all that is taken unread
	for name, c := range map[string]struct {
		limits sshdoor.Limits
		grows  bool
	}{
		"with its bounds": {sshdoor.Limits{Line: 10 * time.Millisecond}, false},
		"without":         {sshdoor.Limits{Room: 1 << 40, RoomPerson: 1 << 40}, true},
	} {
		h := opened(t, c.limits, untilCanceled, "laptop")
		peak, err := memuse.Heap(func() error {
			sent := make(chan error, connections*sessions)
			for range connections {
				c := h.as(t, "laptop")
				for range sessions {
					s, err := c.NewSession()
					if problem.IsA[*gossh.OpenChannelError](err) {
						sent <- nil
						continue
					}
					if err != nil {
						return err
					}
					in, err := s.StdinPipe()
					if err == nil {
						err = s.Start("git-receive-pack 'team'")
					}
					if err != nil {
						return err
					}
					go func() {
						_, err := in.Write(junk)
						sent <- err
					}()
				}
			}
			for range connections * sessions {
				if err := <-sent; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || (peak > most) != c.grows {
			t.Errorf("%s the heap grew by %d MB, %v", name, peak>>20, err)
		}
	}
}
