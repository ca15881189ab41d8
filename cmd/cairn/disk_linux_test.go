package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cairn/internal/fleettest"
	"cairn/internal/paths"
)

// A served memory is one that a running agent serves.
type served struct {
	t     *testing.T
	home  paths.Home
	saved []string // the texts that were acknowledged
}

func (s *served) run(args ...string) outcome {
	s.t.Helper()
	return runProcess(s.t, cairn(s.t.Context(), s.home, append([]string{"--json"}, args...)...))
}

func runProcess(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// must runs a command that has to work and puts its JSON into v.
func (s *served) must(v any, args ...string) {
	s.t.Helper()
	o := s.run(args...)
	if o.code != 0 {
		s.t.Fatalf("cairn %v ends with %d: %s%s", args, o.code, o.out, o.said)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(o.out), v); err != nil {
			s.t.Fatalf("cairn %v: %v in %s", args, err, o.out)
		}
	}
}

// note saves a note, and returns how that ended.
func (s *served) note(text string) outcome {
	s.t.Helper()
	o := s.run("note", text)
	if o.code == 0 {
		s.saved = append(s.saved, text)
	}
	return o
}

// pid is the process that serves the memory.
func (s *served) pid() int {
	s.t.Helper()
	var a struct {
		Running bool
		PID     int
	}
	s.must(&a, "agent", "status")
	if !a.Running {
		s.t.Fatal("no agent runs")
	}
	return a.PID
}

// finds requires that each acknowledged note is found, once.
func (s *served) finds() {
	s.t.Helper()
	var answer struct{ Hits []struct{ Text string } }
	s.must(&answer, "log", "-n", "10000", "--space", "personal")
	var got []string
	for _, h := range answer.Hits {
		got = append(got, h.Text)
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(s.saved))
	if !slices.Equal(got, want) {
		s.t.Errorf("the log lists\n%q, acknowledged were\n%q", got, want)
	}
}

// kept requires that exactly what was acknowledged is in git, which finds
// nothing wrong.
func (s *served) kept() {
	s.t.Helper()
	if got, want := texts(s.t, s.home), slices.Sorted(slices.Values(s.saved)); !slices.Equal(got, want) {
		s.t.Errorf("in git are\n%q, acknowledged were\n%q", got, want)
	}
	fsck(s.t, s.home.Space("personal"))
}

// servedOnSmallDisk is a memory with three notes, which an agent serves, on a
// disk of its own, mounted over dir.
func servedOnSmallDisk(t *testing.T) (dir string, s *served) {
	t.Helper()
	dir = t.TempDir()
	smallDisk(t, dir, "24m")
	s = &served{t: t, home: paths.Home(filepath.Join(dir, "home"))}
	t.Cleanup(func() { stopAgents(dir) })
	for i := range 3 {
		if o := s.note(fmt.Sprintf("note %d before", i)); o.code != 0 {
			t.Fatalf("%+v", o)
		}
	}
	return dir, s
}

// fill takes all the room of a disk with a file, which it returns.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return f.Name()
}

// A disk is filled to its last byte beside a running agent. Notes are refused
// with what to do, all that was acknowledged stays, and once there is room the
// same agent goes on.
func TestAFullDiskRefusesNotesAndLosesNone(t *testing.T) {
	if !namespaced(t, mounting) {
		return
	}
	dir, s := servedOnSmallDisk(t)
	pid := s.pid()
	for round := range 3 {
		filler := fill(t, dir)
		refusal := outcome{}
		for i := 0; refusal.code == 0; i++ {
			refusal = s.note(fmt.Sprintf("note %d in round %d %s", i, round, strings.Repeat("of a long text ", 2000)))
		}
		t.Logf("round %d: %d notes were taken before %s", round, len(s.saved), refusal.out)
		s.refusedForRoom(refusal)
		s.finds()
		if s.pid() != pid {
			t.Error("the agent has ended")
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if o := s.note(fmt.Sprintf("note after round %d", round)); o.code != 0 {
			t.Errorf("there is room again, and yet %+v", o)
		}
		s.finds()
		if s.pid() != pid {
			t.Error("another agent goes on")
		}
	}
	s.must(nil, "doctor", "--deep")
	s.kept()
}

// refusedForRoom requires that somebody is told what became of a note that
// found no room, what of the others, and what to do.
func (s *served) refusedForRoom(o outcome) {
	s.t.Helper()
	var answer struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(o.out), &answer); err != nil {
		s.t.Fatalf("%v in %q, %q", err, o.out, o.said)
	}
	if o.code != 1 || answer.Error.Code != "failed" || !strings.Contains(answer.Error.Hint, "safe") || !strings.Contains(answer.Error.Hint, "free some space") {
		s.t.Errorf("it ends with %d: %+v", o.code, answer.Error)
	}
	if len(answer.Error.Message) > 2000 || strings.Contains(answer.Error.Message, "long text long text") {
		s.t.Errorf("the message repeats the note: %s", answer.Error.Message)
	}
}

// The hub's disk is full while two machines save and push. They are told, all
// they have stays theirs, the hub goes on serving what it has, and once there is
// room everything arrives by itself, and nothing of the failed pushes stays.
func TestAFullDiskAtTheHubLosesNothing(t *testing.T) {
	if !namespaced(t, mounting) {
		return
	}
	dir := t.TempDir()
	smallDisk(t, dir, "24m")
	h := startHubIn(t, dir)
	machines := startMachines(t, h, 2)
	var acked []fleettest.Saved
	save := func(i int, text string) {
		t.Helper()
		a, done, err := machines[i].reach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		r, err := a.Remember(t.Context(), fleettest.Note("team", text))
		if err != nil {
			t.Fatal(err)
		}
		acked = append(acked, fleettest.Saved{ID: r.ID, Text: text})
	}
	save(0, "a badger before")
	save(1, "another badger before")
	judgeProcesses(t, h, machines, acked)
	filler := fill(t, dir)
	for i := range machines {
		for n := range 3 {
			save(i, fmt.Sprintf("badger %d of machine %d %s", n, i, strings.Repeat("with a long story ", 4000)))
		}
		s := &served{t: t, home: machines[i].home}
		o := s.run("sync", "--space", "team")
		t.Logf("sync: %d %s %s", o.code, o.out, o.said)
		if o.code == 0 || !strings.Contains(o.out, "no room") {
			t.Errorf("sync with a hub whose disk is full ends with %d: %s%s", o.code, o.out, o.said)
		}
		clone := runProcess(t, stockGit(t, machines[i].home, "ls-remote", "ssh://"+h.Addr()+"/team"))
		if clone.code != 0 || !strings.Contains(clone.out, "refs/heads/main") {
			t.Errorf("the hub serves nothing any more: %+v", clone)
		}
	}
	if h.cmd.ProcessState != nil {
		t.Error("the hub has ended")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	save(0, "a badger after")
	for _, m := range machines { // by itself it would take a minute or two
		s := &served{t: t, home: m.home}
		s.must(nil, "sync", "--space", "team")
	}
	judgeProcesses(t, h, machines, acked)
	left, err := filepath.Glob(filepath.Join(h.dir, "*", "*.git", "objects", "incoming", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("failed pushes left %v, %v", left, err)
	}
}

// stockGit is a command of git with a machine's key.
func stockGit(t *testing.T, home paths.Home, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_SSH_COMMAND=ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i "+home.DeviceKey())
	return cmd
}

// A file system may become read-only, as Linux does to one with errors. Then
// everybody is told why the memory does not answer, and as soon as the disk can
// be written again everything is there.
func TestAReadOnlyDiskLosesNothing(t *testing.T) {
	if !namespaced(t, mounting) {
		return
	}
	dir, s := servedOnSmallDisk(t)
	stopAgents(dir)
	remount(t, dir, syscall.MS_RDONLY)
	for _, args := range [][]string{{"note", "a note that cannot be kept"}, {"ask", "before"}, {"log"}, {"status"}, {"doctor"}} {
		var answer struct {
			Error struct{ Message, Hint string }
		}
		o := s.run(args...)
		if err := json.Unmarshal([]byte(o.out), &answer); err != nil {
			t.Fatalf("%v: %v in %+v", args, err, o)
		}
		if o.code != 1 || !strings.Contains(answer.Error.Message, "read-only") || !strings.Contains(answer.Error.Hint, "safe") {
			t.Errorf("%v ends with %d: %+v", args, o.code, answer.Error)
		}
	}
	remount(t, dir, 0)
	if o := s.note("note after"); o.code != 0 {
		t.Errorf("%+v", o)
	}
	s.finds()
	s.must(nil, "doctor", "--deep")
	s.kept()
}

// remount mounts a file system anew with other flags.
func remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
		t.Fatalf("remount: %v", err)
	}
}
