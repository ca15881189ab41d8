package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"cairn/cmd/cairn/bench"
	"cairn/cmd/cairn/command"
	"cairn/internal/corpus"
	"cairn/internal/cputime"
	"cairn/internal/measure"
)

const programEnv = "BENCH_TEST_IS_CAIRN"

// TestMain is the program itself in the processes that a bench starts.
func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(command.Main(os.Args[1:], command.System()))
	}
	os.Setenv(programEnv, "1")
	os.Exit(m.Run())
}

// scratch is a folder for temporary files that must be empty in the end.
func scratch(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "b") // a short name, as a socket's path needs
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
}

func named(t *testing.T, name string) bench.Bench {
	t.Helper()
	at := slices.IndexFunc(bench.All(), func(b bench.Bench) bool { return b.Name == name })
	if at < 0 {
		t.Fatalf("no bench %s", name)
	}
	return bench.All()[at]
}

func tiny(runs int) bench.Options { return bench.Options{Program: os.Args[0], Notes: 120, Runs: runs} }

func run(t *testing.T, name string, opt bench.Options) measure.Report {
	t.Helper()
	scratch(t)
	r, err := named(t, name).Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, r)
	if r.Bench != name || r.Notes != opt.Notes {
		t.Errorf("another bench, or of other notes: %+v", r)
	}
	return r
}

// sound checks what every report has to fulfil.
func sound(t *testing.T, r measure.Report) {
	t.Helper()
	for _, row := range r.Rows {
		if row.N < 1 || row.P50 <= 0 || row.P95 < row.P50 || row.P99 < row.P95 {
			t.Errorf("not a measurement: %+v", row)
		}
		peer := slices.ContainsFunc(r.Rows, func(p measure.Row) bool { return p.Name == row.Peer })
		if peer != (row.Ratio > 0) {
			t.Errorf("a ratio without its peer, or the reverse: %+v", row)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back measure.Report
	if err := json.Unmarshal(b, &back); err != nil || len(back.Rows) != len(r.Rows) {
		t.Errorf("its JSON is not the same: %s, %v", b, err)
	}
}

func rows(t *testing.T, r measure.Report, want ...string) {
	t.Helper()
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestNote(t *testing.T) {
	r := run(t, "note", tiny(4))
	rows(t, r, "note, 1 writer", "write and sync", "note, then ask finds it", "note, 16 processes")
	if r.Rows[0].Peer != "write and sync" || r.Rows[3].Rate <= 0 || r.Rows[3].Unit != "events/s" {
		t.Errorf("no ratio, or no rate: %+v", r.Rows)
	}
}

func TestAsk(t *testing.T) {
	want := []string{"the first question"}
	for _, way := range []string{"", ", socket"} {
		for _, class := range corpus.Classes() {
			want = append(want, string(class)+way)
		}
	}
	rows(t, run(t, "ask", tiny(2)), want...)
}

func measuresProcesses() bool {
	_, err := cputime.Of(os.Getpid())
	return !errors.Is(err, cputime.ErrUnknown)
}

func TestSyncBesideGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	r := run(t, "sync", tiny(4))
	if !measuresProcesses() {
		rows(t, r, "saved here, found there")
		return
	}
	rows(t, r, "saved here, found there", "hub, CPU for one push", "git receive-pack, CPU for one push")
	if r.Rows[1].Ratio <= 0 || len(r.Remarks) > 0 {
		t.Errorf("git ran, and yet: %+v", r)
	}
}

func TestSyncWithoutGit(t *testing.T) {
	t.Setenv("PATH", "")
	r := run(t, "sync", tiny(1))
	if measuresProcesses() {
		rows(t, r, "saved here, found there", "hub, CPU for one push")
	}
	if len(r.Remarks) != 1 {
		t.Errorf("nothing is said of it: %+v", r)
	}
}

// names of the rows and amounts of a report.
func names(r measure.Report) (all []string) {
	for _, row := range r.Rows {
		all = append(all, row.Name)
	}
	for _, a := range r.Amounts {
		all = append(all, a.Name)
	}
	return all
}

func has(t *testing.T, r measure.Report, want ...string) {
	t.Helper()
	got := names(r)
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%q is missing in %q", name, got)
		}
	}
}

func TestStoreBesideGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	r := run(t, "store", tiny(6))
	has(t, r, "append, after the first notes", "write and sync, after 120 notes", "go-git, unsynced, after 120 notes",
		"git fast-import, after 120 notes", "open and first append", "append, 16 writers in one process", "append, 16 processes",
		"fold of 120, CPU", "one change between two heads", "git diff-tree", "all commits, CPU", "merge of 120 and 120 notes",
		"every event read, CPU", "go-git, every file read, CPU", "git cat-file --batch, CPU", "git repack -adf, CPU",
		"a note appended, before folding", "a note appended, folded", "room on disk, a note", "git repack -adf, a note")
	for _, a := range r.Amounts {
		if a.Value <= 0 || a.Unit == "" {
			t.Errorf("not a measurement: %+v", a)
		}
	}
	if len(r.Remarks) > 0 {
		t.Errorf("git ran, and yet: %q", r.Remarks)
	}
}

func TestStoreWithoutGit(t *testing.T) {
	t.Setenv("PATH", "")
	r := run(t, "store", tiny(1))
	has(t, r, "append, after 120 notes", "merge of 120 and 120 notes", "room on disk, a note")
	if len(r.Remarks) != 1 {
		t.Errorf("nothing is said of it: %+v", r.Remarks)
	}
	for _, name := range names(r) {
		if strings.HasPrefix(name, "git ") {
			t.Errorf("%q without git", name)
		}
	}
}

func TestHub(t *testing.T) {
	r := run(t, "hub", tiny(2))
	if !measuresProcesses() {
		if len(r.Remarks) != 1 {
			t.Errorf("nothing is said of what is missing: %+v", r)
		}
		return
	}
	has(t, r, "first push of everything", "first push of everything, CPU of the hub", "second machine joins, memory of the agent",
		"hub, CPU for one note in and out", "receiver, CPU for one note", "saved, and 300 watchers have heard")
	if _, err := exec.LookPath("git"); err == nil {
		has(t, r, "git push of everything, CPU of the client", "git clone, memory of the other side", "git receive-pack, CPU for one note")
	}
}

func TestGate(t *testing.T) {
	r := run(t, "gate", tiny(25))
	rows(t, r, "start of the scanner", "note of 1 KB", "1 MB of prose", "1 MB of random base64")
	if r.Rows[1].N != 25 || r.Rows[2].Unit != "MB/s" || r.Rows[3].Rate <= 0 {
		t.Errorf("no rate, or not all runs: %+v", r.Rows)
	}
}

func TestMCP(t *testing.T) {
	r := run(t, "mcp", tiny(2))
	rows(t, r, "to the answer of initialize", "to the answer of recall")
	if r.Rows[1].P50 <= r.Rows[0].P50 {
		t.Errorf("recall was answered before initialize: %+v", r.Rows)
	}
}

// Whoever stops a bench half-way finds nothing of it either.
func TestABenchThatIsStopped(t *testing.T) {
	for name, when := range map[string]string{"note": "saving: 1", "sync": "a note travels", "mcp": "starting an MCP server: 1"} {
		t.Run(name, func(t *testing.T) {
			scratch(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			opt := tiny(8)
			opt.Progress = func(what string) {
				if strings.HasPrefix(what, when) {
					stop()
				}
			}
			if _, err := named(t, name).Run(ctx, opt); !errors.Is(err, context.Canceled) {
				t.Errorf("it went on: %v", err)
			}
		})
	}
}

func TestAProgramThatIsNotCairnIsAnError(t *testing.T) {
	scratch(t)
	opt := tiny(1)
	opt.Program += ".not"
	if r, err := named(t, "sync").Run(t.Context(), opt); err == nil {
		t.Errorf("measured all the same: %+v", r)
	}
}
