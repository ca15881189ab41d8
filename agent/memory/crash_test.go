package memory_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// The test binary is its own victim: with this variable it saves notes into
// the home that it names, says on stdout what was acknowledged, and ends
// itself, as kill -9 would, where the other one says.
const (
	victimHome  = "CAIRN_TEST_VICTIM_HOME"
	victimPhase = "CAIRN_TEST_VICTIM_PHASE"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimHome) != "" {
		os.Exit(beVictim())
	}
	os.Exit(m.Run())
}

// The places in a save where the process dies.
const (
	phaseJudged   = "judged"   // before git
	phaseLocked   = "locked"   // with the log's lock held
	phaseAppended = "appended" // git has it, nothing else
	phaseFacts    = "facts"    // in the middle of writing the facts
	phaseSaved    = "saved"    // before the receipt reaches anybody
	phaseAcked    = "acked"    // before the index has it
	phaseIndexing = "indexing" // in the middle of writing the index
	phaseAnytime  = "anytime"  // the parent decides
)

// rounds is how often processes are killed; a nightly run can afford more.
var rounds = flag.Int("rounds", 10, "rounds of the tests that kill processes")

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

func beVictim() int {
	log.SetOutput(io.Discard) // as in the program: Bluge speaks of every file that was replaced meanwhile
	phase := os.Getenv(victimPhase)
	h, err := openVictim(os.Getenv(victimHome), phase)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := 0; ; i++ {
		if i == 3 && phase != phaseAnytime {
			armed.Store(true)
		}
		r, err := h.Remember(context.Background(), note(fmt.Sprintf("badger %d %d", os.Getpid(), i)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if armed.Load() && phase == phaseSaved {
			die()
		}
		fmt.Println(r.ID)
		if armed.Load() && phase == phaseAcked {
			die()
		}
		if armed.Load() && phase == phaseIndexing {
			// Closing leaves nothing to the background.
			fmt.Fprintln(os.Stderr, h.Close())
			return 1
		}
	}
}

// armed says that the next save is the last.
var armed atomic.Bool

func openVictim(dir, phase string) (*memory.Service, error) {
	fsys := disk.OS
	switch phase {
	case phaseFacts:
		fsys = deadlyFS{disk.OS, "facts"}
	case phaseIndexing:
		fsys = deadlyFS{disk.OS, ".seg"}
	}
	opt := victimOptions(dir, fsys, func(event.Event) error {
		if armed.Load() && phase == phaseJudged {
			die()
		}
		return nil
	})
	s, err := memory.Open(opt)
	if err != nil {
		return nil, err
	}
	log, err := eventlog.Open(disk.OS, opt.Home.Space("personal"), "personal")
	if err != nil {
		return nil, err
	}
	return s, s.Attach(deadlyLog{log, phase})
}

// A deadlyLog ends the process after an append.
type deadlyLog struct {
	*eventlog.Log
	phase string
}

func (l deadlyLog) Append(ctx context.Context, build func(eventlog.Head) ([]event.Event, error)) ([]eventlog.Appended, error) {
	if armed.Load() && l.phase == phaseLocked {
		build = func(eventlog.Head) ([]event.Event, error) {
			die()
			return nil, nil
		}
	}
	done, err := l.Log.Append(ctx, build)
	if armed.Load() && l.phase == phaseAppended {
		die()
	}
	return done, err
}

// A deadlyFS ends the process in the middle of a write to some files.
type deadlyFS struct {
	disk.FS
	in string // their names
}

func (f deadlyFS) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil || !strings.Contains(name, f.in) {
		return file, err
	}
	return deadlyFile{file}, nil
}

type deadlyFile struct{ disk.File }

func (f deadlyFile) Write(b []byte) (int, error) {
	if armed.Load() {
		f.File.Write(b[:len(b)/2])
		die()
	}
	return f.File.Write(b)
}

// killed runs a victim until it is dead and returns what it acknowledged.
func killed(t *testing.T, dir, phase string) []event.ID {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimHome+"="+dir, victimPhase+"="+phase)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	acked := readIDs(out, func() {
		if phase == phaseAnytime {
			time.AfterFunc(time.Duration(rand.IntN(200))*time.Millisecond, func() { cmd.Process.Kill() })
		}
	})
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Errorf("the victim ended by itself: %v\n%s", err, stderr.String())
	}
	return acked
}

// readIDs reads what a victim acknowledged, until it is dead, and calls begun
// at the first.
func readIDs(r io.Reader, begun func()) (ids []event.ID) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		id, err := event.ParseID(lines.Text())
		if err != nil {
			return ids // a line that was torn acknowledged nothing
		}
		if ids = append(ids, id); len(ids) == 1 {
			begun()
		}
	}
	return ids
}

// Wherever a process is killed, every note it acknowledged is there, and what
// is in the log is found, by the next process.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.close()
	phases := []string{phaseJudged, phaseLocked, phaseAppended, phaseFacts, phaseSaved, phaseAcked, phaseIndexing}
	var acked []event.ID
	for i := range max(*rounds, len(phases)) {
		phase := phaseAnytime
		if i < len(phases) {
			phase = phases[i]
		}
		acked = append(acked, killed(t, string(h.dir), phase)...)
		h.open()
		checkAll(t, h, acked, phase)
		h.close()
	}
	h.open()
	if len(acked) < 3*len(phases) {
		t.Errorf("only %d notes were acknowledged", len(acked)) // three before each planned death
	}
}

// Three processes write into one home and are killed, each at its own moment,
// while a fourth keeps asking.
func TestThreeProcessesWriteAndAreKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var acked []event.ID
	for range max(*rounds/5, 1) {
		results := make(chan []event.ID)
		for range 3 {
			go func() { results <- killed(t, string(h.dir), phaseAnytime) }()
		}
		for left := 3; left > 0; {
			select {
			case ids := <-results:
				acked = append(acked, ids...)
				left--
			default:
				h.ask(api.Query{Text: "badger"})
			}
		}
		checkAll(t, h, acked, "three at once")
	}
}

func checkAll(t *testing.T, h *home, acked []event.ID, phase string) {
	t.Helper()
	a := h.settled(api.Query{Text: "badger", Limit: 1000})
	found := idsOf(a.Hits)
	inLog := h.log(api.Query{Limit: 1000, Filter: api.Filter{Kind: event.KindObserve}})
	for _, id := range acked {
		if !slices.Contains(inLog, id) {
			t.Errorf("killed at %s: %s was acknowledged and is lost", phase, id)
		}
	}
	slices.Sort(found)
	slices.Sort(inLog)
	if !slices.Equal(found, inLog) {
		t.Errorf("killed at %s: %d found, %d in the log", phase, len(found), len(inLog))
	}
	h.note("badger after " + phase) // and the log takes new notes at once
	h.redact(h.note("badger after " + phase))
}
