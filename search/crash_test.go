package search_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/search"
)

// crashDir tells the test binary to be the process that is killed.
const crashDir = "CAIRN_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Fprintln(os.Stderr, applyForEver(dir))
		os.Exit(1)
	}
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		flag.Set("rapid.checks", "30") // each opens, closes and rebuilds an index several times
	}
	os.Exit(m.Run())
}

// notesPerStep is how many notes stand and fall together in the crash test.
const notesPerStep = 3

// applyForEver adds step after step and says so on stdout.
func applyForEver(dir string) error {
	x, err := search.Open(dir, search.Options{})
	if err != nil {
		return err
	}
	m, _, err := x.Mark("team")
	if err != nil {
		return err
	}
	for step := m.Events; ; step++ {
		if err := x.Apply(context.Background(), stepBatch(step)); err != nil {
			return err
		}
		fmt.Println(step)
	}
}

func stepID(step, i int) event.ID { return event.ID(fmt.Sprintf("%020d%06d", step, i)) }

// After kill -9 at any moment the notes are exactly those of the steps that
// the mark speaks of.
func TestNotesAndMarkSurviveAKillTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done := 0
	for round := range 6 {
		killDuring(t, dir, 1+round*round*3)
		x := open(t, dir)
		m, ok, err := x.Mark("team")
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if ok && m.Events < done {
			t.Fatalf("round %d: the mark went back from %d to %d", round, done, m.Events)
		}
		done = m.Events
		checkSteps(t, x, done)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if done == 0 {
		t.Fatal("no step ever reached the disk: the test shows nothing")
	}
	checkNoOrphans(t, dir)
}

// killDuring runs the writer and kills it once it has done some steps.
func killDuring(t *testing.T, dir string, steps int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range steps {
		if !lines.Scan() {
			break
		}
	}
	killErr := cmd.Process.Kill()
	waitErr := cmd.Wait()
	if killErr != nil || waitErr == nil || stderr.Len() > 0 {
		t.Fatalf("the writer ended by itself: %v, %v\n%s", killErr, waitErr, stderr.String())
	}
}

func checkSteps(t *testing.T, x *search.Index, steps int) {
	t.Helper()
	want := map[event.ID]bool{}
	for step := range steps {
		for i := range notesPerStep {
			want[stepID(step, i)] = true
			if step%5 == 4 {
				delete(want, stepID(step-2, i))
			}
		}
	}
	err := x.IDs("team", func(id event.ID) error {
		if !want[id] {
			t.Errorf("note %s is there, though the mark says %d steps", id, steps)
		}
		delete(want, id)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Errorf("%d notes of %d steps are missing", len(want), steps)
	}
	if steps > 0 {
		last := "step" + strconv.Itoa(steps-1)
		if got := ask(t, x, `"`+last+`"`); len(got) != notesPerStep {
			t.Errorf("%s finds %d notes", last, len(got))
		}
	}
}

// checkNoOrphans opens once more: what killed processes left is swept, so
// files do not pile up.
func checkNoOrphans(t *testing.T, dir string) {
	t.Helper()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "gen-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) > 40 {
		t.Errorf("%d files are left after the kills:\n%s", len(files), strings.Join(files, "\n"))
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".tmp") {
			t.Errorf("a half-written file is left: %s", f)
		}
	}
}

func TestAKilledRebuildLeavesTheFormerIndex(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	d := note(1, "the former index")
	apply(t, x, "team", d)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, "gen-2") // as a process leaves it that is killed while it builds
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "000000000001.seg"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir)
	wantHits(t, ask(t, x, "former"), d)
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half-built index is still there (%v)", err)
	}
}
