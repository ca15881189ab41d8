package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/wal"
)

const (
	// segmentSize is how long a file of the journal is.
	segmentSize = 1 << 20
	// segmentRecords is after how many records appends go to the other file, so that they can be settled.
	segmentRecords = 256
	// longestShare is which part of a segment the longest record may take that is worth writing twice: from there on it
	// costs less to sync the pack itself.
	longestShare = 8

	damagedSuffix = ".damaged"
)

var errFull = errors.New("both files of the write-ahead log are in use")

// A journal is the write-ahead log: two files, so that one can be settled while the other takes appends. It is used under
// the append lock, and needs refresh whenever the lock was free.
type journal struct {
	boot     string
	size     int64 // of a segment
	segments [2]segment
}

func newJournal(fsys disk.FS, dir string, open func(disk.FS, string) (*wal.File, error)) (*journal, error) {
	boot, err := disk.BootID()
	if err != nil {
		return nil, err
	}
	j := &journal{boot: boot, size: segmentSize}
	for i := range j.segments {
		j.segments[i] = segment{fs: fsys, path: filepath.Join(dir, fmt.Sprint("wal.", i)), open: open}
	}
	return j, nil
}

func (j *journal) refresh() error {
	for i := range j.segments {
		if err := j.segments[i].refresh(); err != nil {
			return fmt.Errorf("read the write-ahead log: %w", err)
		}
	}
	return nil
}

// inOrder returns the segments with records, the older one first.
func (j *journal) inOrder() []*segment {
	var used []*segment
	for i := range j.segments {
		if s := &j.segments[i]; s.inUse() && s.count > 0 {
			used = append(used, s)
		}
	}
	if len(used) == 2 && used[0].mark.seq > used[1].mark.seq {
		used[0], used[1] = used[1], used[0]
	}
	return used
}

// newest returns the segment that appends go to; nil if none is in use.
func (j *journal) newest() *segment {
	var newest *segment
	for i := range j.segments {
		if s := &j.segments[i]; s.inUse() && (newest == nil || s.mark.seq > newest.mark.seq) {
			newest = s
		}
	}
	return newest
}

func (j *journal) other(s *segment) *segment {
	if s == &j.segments[0] {
		return &j.segments[1]
	}
	return &j.segments[0]
}

// leadsTo reports whether head is where the records lead and nothing can have been lost of what followed them. Without
// records it is.
func (j *journal) leadsTo(head plumbing.Hash) bool {
	used := j.inOrder()
	for _, s := range used {
		if s.mark.boot != j.boot {
			return false
		}
	}
	return len(used) == 0 || used[len(used)-1].tip == head
}

// read returns all records and the head that they follow.
func (j *journal) read() (base plumbing.Hash, all []record, err error) {
	for _, s := range j.inOrder() {
		if len(all) == 0 {
			base = s.mark.base
		} else if s.mark.base != all[len(all)-1].tip() {
			return base, nil, &JournalError{Path: s.path, Err: errNoChain}
		}
		records, err := s.records()
		if err != nil {
			return base, nil, err
		}
		all = append(all, records...)
	}
	return base, all, nil
}

// longest is the length of the longest record that belongs into the journal.
func (j *journal) longest() int { return int(j.size / longestShare) }

// append adds a record that follows head. leadsTo(head) must hold, and the record be no longer than longest. It reports
// whether a segment has become full by now. If there is no room the error is errFull.
func (j *journal) append(head plumbing.Hash, r record, wait bool) (turned bool, err error) {
	payload, s := r.encode(), j.newest()
	switch {
	case s == nil:
		s, err = j.begin(&j.segments[0], head)
	case s.count == 0 && (s.tip != head || s.mark.boot != j.boot):
		s, err = j.begin(s, head)
	case s.count >= segmentRecords || len(payload) > s.file.Room():
		turned = true
		s, err = j.turn(s)
	}
	if err == nil {
		err = s.append(r, payload, wait)
	}
	return turned, err
}

// turn lets appends go to the other segment than s.
func (j *journal) turn(s *segment) (*segment, error) {
	other := j.other(s)
	if other.inUse() && other.count > 0 {
		return nil, errFull
	}
	return j.begin(other, s.tip)
}

func (j *journal) begin(s *segment, base plumbing.Hash) (*segment, error) {
	m := mark{seq: 1, base: base, boot: j.boot}
	if newest := j.newest(); newest != nil {
		m.seq = newest.mark.seq + 1
	}
	return s, s.begin(m, j.size)
}

// retract takes the record back that was appended last.
func (j *journal) retract() error { return j.newest().retract() }

// end takes everything out of use, the older segment first.
func (j *journal) end() error {
	for _, s := range j.inOrder() {
		if err := s.end(); err != nil {
			return err
		}
	}
	return nil
}

// erase overwrites everything that the files ever held.
func (j *journal) erase() error {
	var errs []error
	for i := range j.segments {
		s := &j.segments[i]
		if s.file != nil {
			errs = append(errs, s.file.Erase())
			s.mark, s.count = mark{}, 0
		}
		if err := s.fs.Remove(s.path + damagedSuffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (j *journal) close() error {
	return errors.Join(j.segments[0].close(), j.segments[1].close())
}
