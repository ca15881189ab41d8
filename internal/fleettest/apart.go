package fleettest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"cairn/hub"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
)

// apartEnv has a test's program serve a hub instead of testing.
const apartEnv = "CAIRN_FLEETTEST_HUB"

// A charge is what a hub of its own process is to do.
type charge struct {
	Dir    string
	Addr   string
	Door   sshdoor.Limits
	Pushes repository.Limits
}

// A Held is what a hub of its own process still holds after its garbage was collected.
type Held struct {
	Heap       uint64 // bytes
	Goroutines int
}

// Main is for the TestMain of whoever calls StartApart. It serves a hub, and does not come back, if this process is one.
func Main() {
	text := os.Getenv(apartEnv)
	if text == "" {
		return
	}
	var c charge
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = c.serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hub:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve serves until in ends. Each line of it asks for what is held.
func (c charge) serve(in io.Reader, out io.Writer) error {
	h, err := hub.Open(c.Dir, hub.Options{Door: c.Door, Pushes: c.Pushes})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	answer := json.NewEncoder(out)
	err = answer.Encode(l.Addr().String())
	for lines := bufio.NewScanner(in); err == nil && lines.Scan(); {
		err = answer.Encode(held())
	}
	end()
	return errors.Join(err, <-ended, h.Close())
}

func held() Held {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second only
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Held{stats.HeapAlloc, runtime.NumGoroutine()}
}

// An Apart is a hub in a process of its own.
type Apart struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu  sync.Mutex // held from a question to its answer
	out *json.Decoder
}

func startApart(c charge) (a *Apart, addr string, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	a = &Apart{cmd: exec.Command(self)}
	a.cmd.Env = append(os.Environ(), apartEnv+"="+string(text))
	a.cmd.Stderr = os.Stderr
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	a.out = json.NewDecoder(out)
	if err := a.cmd.Start(); err != nil {
		return nil, "", err
	}
	if err := a.out.Decode(&addr); err != nil {
		return nil, "", errors.Join(err, a.stop())
	}
	return a, addr, nil
}

// stop has the hub stop in order.
func (a *Apart) stop() error { return errors.Join(a.in.Close(), a.cmd.Wait()) }

// Pid is the process.
func (a *Apart) Pid() int { return a.cmd.Process.Pid }

// Held asks what the hub holds.
func (a *Apart) Held() (h Held, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err = io.WriteString(a.in, "held\n"); err == nil {
		err = a.out.Decode(&h)
	}
	return h, err
}
