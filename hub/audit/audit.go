package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
)

// Verdicts.
const (
	Taken   = "taken"
	Refused = "refused"
	Failed  = "failed"
	Done    = "done"
)

// maxEvents bounds the ids in one record; Count has the whole number.
const maxEvents = 100

// A Record is one decision.
type Record struct {
	At      event.Time     `json:"at"`
	Person  string         `json:"person"` // Operator for whoever sits at the hub itself
	Device  event.DeviceID `json:"device,omitempty"`
	Addr    string         `json:"addr,omitempty"`
	Action  string         `json:"action"` // push, enrol, or an admin verb
	Space   string         `json:"space,omitempty"`
	Ref     string         `json:"ref,omitempty"`
	Target  string         `json:"target,omitempty"` // person, device or space that an act was about
	Verdict string         `json:"verdict"`
	Rules   []string       `json:"rules,omitempty"`
	OnTrial []string       `json:"on_trial,omitempty"` // rules that would have refused it, if they were not on trial
	Commit  string         `json:"commit,omitempty"`   // head afterwards
	Count   int            `json:"count,omitempty"`    // of events
	Events  []event.ID     `json:"events,omitempty"`   // the first of them
	Reason  string         `json:"reason,omitempty"`   // of a purge, in its admin's words
	Policy  int            `json:"policy,omitempty"`   // number of the version that an act was about, or by which a push was judged
}

// Operator stands for a person in what is done at the hub itself.
const Operator = "(operator)"

// A Log is the audit log in one folder. It is safe for concurrent use, also by
// several processes.
type Log struct {
	fs  disk.FS
	dir string
	now func() time.Time

	lost atomic.Uint64
}

// Lost is how many records could not be written since the log was opened.
func (l *Log) Lost() uint64 { return l.lost.Load() }

// Open is the log in dir, which is made if it is missing. now is the clock.
func Open(fsys disk.FS, dir string, now func() time.Time) (*Log, error) {
	if err := disk.MakeDir(fsys, dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &Log{fs: fsys, dir: dir, now: now}, nil
}

// Append adds a record, durably. It sets At, and Count from Events.
func (l *Log) Append(r Record) (err error) {
	defer func() {
		if err != nil {
			l.lost.Add(1)
		}
	}()
	now := event.NewTime(l.now())
	line, err := lineOf(r, now)
	if err != nil {
		return err
	}
	if err := write(l.fs, filepath.Join(l.dir, now.Format("2006-01")+".jsonl"), line); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

// lineOf is a record of that moment as a line.
func lineOf(r Record, at event.Time) ([]byte, error) {
	r.At = at
	r.Count = len(r.Events)
	r.Events = r.Events[:min(len(r.Events), maxEvents)]
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode an audit record: %w", err)
	}
	return append(line, '\n'), nil
}

// write appends with one call, which is what keeps lines of several processes
// apart.
func write(fsys disk.FS, path string, line []byte) (err error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	torn, err := endsTorn(f)
	if err != nil {
		return err
	}
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	return f.Sync()
}

// endsTorn says whether the last line was cut short, as a crash can do.
func endsTorn(f disk.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// A Filter chooses records; empty members choose all.
type Filter struct {
	Person string
	Space  string
	Action string
	Limit  int // the newest so many; 0 is 100
}

func (f Filter) takes(r Record) bool {
	return (f.Person == "" || f.Person == r.Person) && (f.Space == "" || f.Space == r.Space) && (f.Action == "" || f.Action == r.Action)
}

// A Page is what Read found.
type Page struct {
	Records []Record `json:"records"` // newest first
	Damaged int      `json:"damaged"` // lines that could not be read, on the way to these
}

// Read finds the newest records that the filter takes.
func (l *Log) Read(f Filter) (Page, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return Page{}, fmt.Errorf("read the audit log: %w", err)
	}
	page := Page{Records: []Record{}}
	for _, e := range slices.Backward(entries) {
		if !strings.HasSuffix(e.Name(), ".jsonl") || len(page.Records) >= f.Limit {
			continue
		}
		if err := l.readMonth(e.Name(), f, &page); err != nil {
			return Page{}, fmt.Errorf("read the audit log: %w", err)
		}
	}
	return page, nil
}

func (l *Log) readMonth(name string, f Filter, page *Page) error {
	file, err := disk.Open(l.fs, filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range slices.Backward(lines) {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			page.Damaged++
			continue
		}
		if f.takes(r) {
			page.Records = append(page.Records, r)
		}
		if len(page.Records) == f.Limit {
			return nil
		}
	}
	return nil
}
