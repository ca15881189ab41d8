package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/fleettest"
	"cairn/internal/longtest"
	"cairn/internal/paths"
)

// A hubProcess is "cairn hub serve" in a process that is killed and started again, each time at another address.
type hubProcess struct {
	dir  string
	cmd  *exec.Cmd
	mu   sync.Mutex
	addr string
}

func startHub(t *testing.T) *hubProcess {
	t.Helper()
	return startHubIn(t, t.TempDir())
}

func startHubIn(t *testing.T, parent string) *hubProcess {
	t.Helper()
	h := &hubProcess{dir: filepath.Join(parent, "hub")}
	for _, args := range [][]string{{"init"}, {"spaces", "create", "team"}} {
		if out, err := exec.Command("cairn", append(append([]string{"hub"}, args...), "--data", h.dir)...).CombinedOutput(); err != nil {
			t.Fatalf("hub %v: %v\n%s", args, err, out)
		}
	}
	if err := h.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	return h
}

func (h *hubProcess) start() error {
	h.cmd = exec.Command("cairn", "hub", "serve", "--data", h.dir, "--listen", "127.0.0.1:0")
	said, err := h.cmd.StderrPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		return err
	}
	lines := bufio.NewReader(said)
	line, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the hub does not start: %w", err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until it ends
	addr, _, ok := strings.Cut(strings.TrimPrefix(line, "listening on "), ",")
	if !ok {
		return fmt.Errorf("the hub says %q", line)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addr = addr
	return nil
}

// Addr is where it listens, or did.
func (h *hubProcess) Addr() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addr
}

func (h *hubProcess) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	_ = h.cmd.Wait()
}

func (h *hubProcess) invite(t *testing.T, person, addr string) string {
	t.Helper()
	out, err := exec.Command("cairn", "hub", "invite", person, "--space", "team", "--role", "write", "--addr", addr, "--data", h.dir).Output()
	if err != nil {
		t.Fatalf("invite: %v", err)
	}
	lines := strings.Fields(string(out))
	return lines[len(lines)-1]
}

// A machineProcess is a machine: "cairn agent run" in a process that is killed and started again.
type machineProcess struct {
	home paths.Home
	line *fleettest.Line
	cmd  *exec.Cmd
}

func (p *machineProcess) start(t *testing.T) {
	p.cmd = cairn(t.Context(), p.home, "agent", "run")
	if err := p.cmd.Start(); err != nil {
		t.Error(err)
	}
}

func (p *machineProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// reach waits until the machine's agent answers.
func (p *machineProcess) reach(ctx context.Context) (api.Agent, func(), error) {
	for {
		a, done, err := agent.Running(ctx, p.home)
		if err == nil {
			return a, done, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// write saves notes until the machine was told that count of them are safe. Each is tried again until somebody says so:
// that it may have been saved already does no harm.
func (p *machineProcess) write(ctx context.Context, name string, count int) (acked []fleettest.Saved, err error) {
	for len(acked) < count {
		a, done, err := p.reach(ctx)
		if err != nil {
			return acked, err
		}
		for len(acked) < count {
			text := fmt.Sprintf("note %d of %s is about a badger", len(acked), name)
			d := fleettest.Note("team", text)
			r, err := a.Remember(ctx, d)
			if err != nil {
				break // killed; the same note again
			}
			acked = append(acked, fleettest.Saved{ID: r.ID, Text: text})
		}
		done()
	}
	return acked, nil
}

// startMachines are machines of as many people, each with a line of its own to the hub.
func startMachines(t *testing.T, h *hubProcess, count int) (machines []*machineProcess) {
	t.Helper()
	for i := range count {
		p := &machineProcess{home: home(t), line: fleettest.NewLine(t, h.Addr)}
		if out, err := cairn(t.Context(), p.home, "init").CombinedOutput(); err != nil {
			t.Fatalf("init: %v\n%s", err, out)
		}
		p.start(t)
		t.Cleanup(p.kill)
		a, done, err := p.reach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Join(t.Context(), h.invite(t, fmt.Sprint("person-", i), p.line.Addr())); err != nil {
			t.Fatal(err)
		}
		done()
		machines = append(machines, p)
	}
	return machines
}

// A hub and five machines, each a process, are killed and cut off at random while they save. Every note that was
// acknowledged is everywhere, once.
func TestAFleetOfProcessesLosesNothing(t *testing.T) {
	each := longtest.Rounds(12, 2000)
	r := longtest.Rand(t)
	h := startHub(t)
	machines := startMachines(t, h, 5)
	var writers sync.WaitGroup
	acked := make([][]fleettest.Saved, len(machines))
	for i, p := range machines {
		writers.Go(func() {
			var err error
			if acked[i], err = p.write(t.Context(), fmt.Sprint("machine ", i), each); err != nil {
				t.Errorf("machine %d: %v", i, err)
			}
		})
	}
	written := make(chan struct{})
	go func() { writers.Wait(); close(written) }()
	disturbed := disturb(t, r, h, machines, written)
	var all []fleettest.Saved
	for _, list := range acked {
		all = append(all, list...)
	}
	judgeProcesses(t, h, machines, all)
	t.Logf("%d notes, %d disturbances", len(all), disturbed)
	if len(all) < 5*each || disturbed < 3 {
		t.Error("so little happened that nothing is proved")
	}
}

// disturb kills and cuts until all is written, and then mends everything.
func disturb(t *testing.T, r *rand.Rand, h *hubProcess, machines []*machineProcess, written <-chan struct{}) (count int) {
	t.Helper()
	for going := true; going || count < 5; count++ {
		p := machines[r.IntN(len(machines))]
		switch r.IntN(4) {
		case 0:
			h.kill()
			if err := h.start(); err != nil {
				t.Error(err)
			}
		case 1:
			p.line.Cut()
		case 2:
			p.line.Mend()
		default:
			p.kill()
			p.start(t)
		}
		select {
		case <-written:
			going = false
		case <-time.After(time.Duration(r.IntN(500)) * time.Millisecond):
		}
	}
	for _, p := range machines {
		p.line.Mend()
	}
	return count
}

// judgeProcesses waits until nobody has anything left to do, and looks at all of it.
func judgeProcesses(t *testing.T, h *hubProcess, machines []*machineProcess, acked []fleettest.Saved) {
	t.Helper()
	var members []fleettest.Member
	dirs := []string{filepath.Join(h.dir, "spaces", "team.git")}
	for _, p := range machines {
		a, done, err := p.reach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		members = append(members, fleettest.Member{Agent: a, Home: p.home})
		dirs = append(dirs, p.home.Space("team"))
	}
	var faults []string
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if faults = fleettest.Uneven("team", []string{"badger"}, members...); len(faults) == 0 {
			break
		}
	}
	for _, m := range members {
		doubled, err := fleettest.Doubled(m, "team", acked)
		if err != nil {
			t.Error(err)
		}
		faults = append(faults, doubled...)
	}
	for _, fault := range append(faults, fleettest.Unsound(dirs...)...) {
		t.Error(fault)
	}
}
