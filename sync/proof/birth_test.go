package proof_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
)

// beSettler makes the repository that each line of in names, appends to it, and says the event's id.
func beSettler(dir string, in io.Reader) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		id, err := settleAt(filepath.Join(dir, lines.Text()))
		if err != nil {
			return err
		}
		if _, err := fmt.Println(id); err != nil {
			return err
		}
	}
	return lines.Err()
}

func settleAt(dir string) (event.ID, error) {
	l, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: space, ID: event.NewID(time.Now())})
	if err != nil {
		return "", err
	}
	e := note(fmt.Sprintf("the first word of process %d", os.Getpid()), "laptop")
	_, err = l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	return e.ID, err
}

// Two processes make the same repository at the same moment, and each appends to it. It is one repository, with one first
// commit, and has both events.
func TestRacesForTheFirstCommitLoseNothing(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	var settlers [2]*child
	for i := range settlers {
		c, err := startChild("settler", dir, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.kill(); c.rest() })
		settlers[i] = c
	}
	var f findings
	for n := range longtest.Rounds(10, 200) {
		name := fmt.Sprintf("%d.git", n)
		for _, c := range settlers {
			if _, err := fmt.Fprintln(c.in, name); err != nil {
				t.Fatal(err, c.stderr)
			}
		}
		var said []string
		for _, c := range settlers {
			line, ok := <-c.lines
			if !ok {
				t.Fatalf("race %d: a process ended: %s", n, c.stderr)
			}
			said = append(said, line)
		}
		afterBirth(&f, filepath.Join(dir, name), said)
	}
	f.report(t)
}

func afterBirth(f *findings, dir string, said []string) {
	files, err := filesAt(dir)
	if err != nil || len(files) != len(said) {
		f.addf("%s: %d events, %v", dir, len(files), err)
	}
	for _, id := range said {
		if files[event.ID(id)] == "" {
			f.addf("%s: %s was acknowledged and is lost", dir, id)
		}
	}
	roots, err := git(dir, "rev-list", "--max-parents=0", "--all")
	if err != nil || len(strings.Fields(roots)) != 1 {
		f.addf("%s: first commits %q, %v", dir, roots, err)
	}
}

// Two logs that were made apart and thrown together are what the proof above is about: it must see that.
func TestAProofOfBirthSeesALostLog(t *testing.T) {
	needGit(t)
	dir := filepath.Join(t.TempDir(), "twice.git")
	first, err := settleAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	second, err := settleAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	var f findings
	afterBirth(&f, dir, []string{string(first), string(second)})
	if !f.has("is lost") {
		t.Errorf("found: %q", f.all())
	}
}
