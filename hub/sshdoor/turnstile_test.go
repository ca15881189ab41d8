package sshdoor

import (
	"fmt"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever comes, goes and logs in, no limit is exceeded, and an empty house
// lets people in again.
func TestATurnstileKeepsItsLimits(t *testing.T) {
	type guest struct {
		addr    string
		waiting bool
	}
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Connections: 6, Waiting: 4, WaitingAddress: 2, Burst: 3, Refill: 1}
		now := time.Unix(0, 0)
		gate := newTurnstile(limits)
		gate.now = func() time.Time { return now }
		var guests []*guest
		count := func(addr string) (n int) {
			for _, g := range guests {
				if g.waiting && (addr == "" || g.addr == addr) {
					n++
				}
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				addr := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "addr")
				full := len(guests) == 6 || count("") == 4 || count(addr) == 2
				reason := gate.enter(addr)
				if full && reason == "" {
					t.Fatalf("%s is let in past a limit", addr)
				}
				if reason == "" {
					guests = append(guests, &guest{addr, true})
				}
			},
			"log in": func(t *rapid.T) {
				for _, g := range guests {
					if g.waiting {
						g.waiting = false
						gate.loggedIn(g.addr)
						return
					}
				}
			},
			"leave": func(t *rapid.T) {
				if len(guests) == 0 {
					return
				}
				g := guests[0]
				guests = guests[1:]
				gate.leave(g.addr, g.waiting)
			},
			"wait": func(t *rapid.T) { now = now.Add(time.Second) },
		})
		for _, g := range guests {
			gate.leave(g.addr, g.waiting)
		}
		now = now.Add(time.Minute)
		for i := range 3 {
			if reason := gate.enter("a"); reason != "" && i < 2 {
				t.Fatalf("an empty house turns the visitor %d away: %s", i, reason)
			}
		}
	})
}

func TestATurnstileForgetsAddresses(t *testing.T) {
	now := time.Unix(0, 0)
	gate := newTurnstile(Limits{}.withDefaults())
	gate.now = func() time.Time { return now }
	for i := range 3 * maxAddresses {
		addr := fmt.Sprint(i)
		if reason := gate.enter(addr); reason != "" {
			t.Fatal(reason)
		}
		gate.leave(addr, true)
		now = now.Add(time.Second)
	}
	if n := len(gate.bucket); n > maxAddresses {
		t.Errorf("%d addresses are kept", n)
	}
}

func TestWhomAConnectionIsCountedFor(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7:1234":                   "192.0.2.7",
		"[::ffff:192.0.2.7]:1234":          "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1234":      "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1%eth0]:1234": "2001:db8:1:2::/64",
		"pipe":                             "pipe",
	} {
		if got := addressOf(address(in)); got != want {
			t.Errorf("%s is counted for %s, want %s", in, got, want)
		}
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

var _ net.Addr = address("")
