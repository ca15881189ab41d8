package fleettest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"cairn/internal/cputime"
)

// A raid is foes at their attacks, and what came of it.
type raid struct {
	mu    sync.Mutex
	found haul
}

// A haul is what foes did.
type haul struct {
	Tried    map[string]int // by attack
	Breaches []string       // attacks that were let through
}

// rage attacks until the returned function is called.
func (r *raid) rage(list []attack, foes [][]*foe) (calm func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for i, a := range list {
		for _, e := range foes[i] {
			work.Go(func() {
				for ctx.Err() == nil {
					r.try(a.name)
					r.note(a.name, a.do(ctx, e))
					time.Sleep(20 * time.Millisecond) // as long as it takes to think of the next one
				}
			})
		}
	}
	return func() { cancel(); work.Wait() }
}

func (r *raid) try(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found.Tried == nil {
		r.found.Tried = map[string]int{}
	}
	r.found.Tried[name]++
}

// soFar is what has come of it.
func (r *raid) soFar() haul {
	r.mu.Lock()
	defer r.mu.Unlock()
	return haul{maps.Clone(r.found.Tried), slices.Clone(r.found.Breaches)}
}

func (r *raid) note(name string, err error) {
	if errors.Is(err, errBreached) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.found.Breaches = append(r.found.Breaches, name)
	}
}

// A recruit is what makes a foe.
type recruit struct {
	Hub    string
	N      int    // of the address
	Person string // "" for a stranger
	Invite string
	Dir    string
}

// A gang is foes in a process of their own. It gives way to the others a little, for it would have machines of its own.
type gang struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *json.Encoder
	end io.Closer
	out *json.Decoder
}

// gangEnv has the test's program be a gang.
const gangEnv = "CAIRN_FLEETTEST_GANG"

// newGang has recruits, of each attack in its turn, join the hub.
func newGang(t *testing.T, recruits [][]recruit) *gang {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &gang{t: t, cmd: exec.Command(self)}
	if nice, err := exec.LookPath("nice"); err == nil {
		g.cmd = exec.Command(nice, "-n", "5", self)
	}
	g.cmd.Env = append(os.Environ(), gangEnv+"=1")
	g.cmd.Stderr = os.Stderr
	in, err := g.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	g.in, g.end, g.out = json.NewEncoder(in), in, json.NewDecoder(out)
	t.Cleanup(func() {
		if err := errors.Join(g.end.Close(), g.cmd.Wait()); err != nil {
			t.Errorf("the foes: %v", err)
		}
	})
	g.ask(recruits)
	return g
}

// ask says what to do next and returns what was done before.
func (g *gang) ask(what any) (h haul) {
	g.t.Helper()
	if err := errors.Join(g.in.Encode(what), g.out.Decode(&h)); err != nil {
		g.t.Fatalf("the foes do not answer: %v", err)
	}
	return h
}

func (g *gang) rage() { g.ask(true) }

// calm returns once no foe attacks any more.
func (g *gang) calm() haul { return g.ask(false) }

// used is the processor time of all foes.
func (g *gang) used() time.Duration { return used(g.t, g.cmd.Process.Pid) }

func used(t *testing.T, pid int) time.Duration {
	t.Helper()
	d, err := cputime.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// beGang does not come back if this process is a gang.
func beGang() {
	if os.Getenv(gangEnv) == "" {
		return
	}
	if err := obey(json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "foes:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// obey reads the recruits, and then whether they are to attack, until there is no more to read.
func obey(in *json.Decoder, out *json.Encoder) error {
	var recruits [][]recruit
	if err := in.Decode(&recruits); err != nil {
		return err
	}
	foes, err := muster(recruits)
	r, calm := new(raid), func() {}
	for err == nil {
		if err = out.Encode(r.soFar()); err != nil {
			break
		}
		var attack bool
		err = in.Decode(&attack)
		calm()
		calm = func() {}
		if err == nil && attack {
			calm = r.rage(attacks(), foes)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func muster(recruits [][]recruit) (foes [][]*foe, err error) {
	for i, list := range recruits {
		foes = append(foes, nil)
		for _, r := range list {
			e, err := r.join()
			if err != nil {
				return nil, err
			}
			foes[i] = append(foes[i], e)
		}
	}
	return foes, nil
}
