package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/wal"
)

// A segment is one of the files of a journal.
type segment struct {
	fs   disk.FS
	path string
	open func(disk.FS, string) (*wal.File, error)

	file  *wal.File // nil if there is none yet
	mark  mark
	count int           // of records
	tip   plumbing.Hash // the head that the records lead to; without records the base
	last  plumbing.Hash // the tip before the last append
}

// inUse reports whether the segment has a place in the order of segments.
func (s *segment) inUse() bool { return s.file != nil && !s.mark.isZero() }

// refresh finds out what others have done to the segment.
func (s *segment) refresh() error {
	fresh, err := s.reopen()
	if err == nil && s.file != nil {
		err = s.catchUp(fresh)
	}
	if _, damaged := errors.AsType[*wal.DamagedError](err); damaged {
		return errors.Join(s.setAside(), s.close())
	}
	return err
}

// reopen makes sure that the open file is the one that has the name: somebody may have restored a backup, or tidied up.
func (s *segment) reopen() (fresh bool, err error) {
	if s.file != nil {
		now, err := s.fs.Stat(s.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		held, herr := s.file.Stat()
		if herr == nil && err == nil && os.SameFile(now, held) {
			return false, nil
		}
		if err := errors.Join(herr, s.close()); err != nil {
			return false, err
		}
	}
	s.file, err = s.open(s.fs, s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, err
}

func (s *segment) catchUp(fresh bool) error {
	same, err := s.file.Refresh()
	if err != nil {
		return err
	}
	if fresh || !same {
		if s.mark, err = decodeMark(s.file.Mark()); err != nil {
			return &JournalError{Path: s.path, Err: err}
		}
		s.count, s.tip = 0, s.mark.base
		s.file.Rewind()
	}
	_, err = s.next()
	return err
}

// next returns the records that were not seen yet.
func (s *segment) next() (all []record, err error) {
	for {
		payload, err := s.file.Next()
		if err != nil || payload == nil {
			return all, err
		}
		r, err := decodeRecord(payload)
		if err != nil {
			return all, &JournalError{Path: s.path, Err: err}
		}
		s.count++
		s.tip = r.tip()
		all = append(all, r)
	}
}

// records returns all records. refresh must have been called.
func (s *segment) records() ([]record, error) {
	s.count, s.tip = 0, s.mark.base
	s.file.Rewind()
	return s.next()
}

// begin makes the segment the one that appends go to. It is durable with the first record that is.
func (s *segment) begin(m mark, size int64) error {
	if s.file == nil {
		if err := wal.Create(s.fs, s.path, size); err != nil {
			return err
		}
		f, err := s.open(s.fs, s.path)
		if err != nil {
			return err
		}
		s.file = f
	}
	if err := s.file.Begin(m.encode(), false); err != nil {
		return err
	}
	s.mark, s.count, s.tip = m, 0, m.base
	return nil
}

// end takes the segment out of use, durably.
func (s *segment) end() error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Begin(nil, true); err != nil {
		return err
	}
	s.mark, s.count, s.tip = mark{}, 0, plumbing.Hash{}
	return nil
}

func (s *segment) append(r record, payload []byte, wait bool) error {
	if err := s.file.Append(payload, wait); err != nil {
		return err
	}
	s.last = s.tip
	s.count, s.tip = s.count+1, r.tip()
	return nil
}

func (s *segment) retract() error {
	if err := s.file.Retract(); err != nil {
		return errors.Join(err, s.close()) // what it holds has to be read again
	}
	s.count, s.tip = s.count-1, s.last
	return nil
}

// setAside takes a damaged file out of the way. Its records, if it had any, cannot be read.
func (s *segment) setAside() error {
	if err := s.fs.Rename(s.path, s.path+damagedSuffix); err != nil {
		return fmt.Errorf("set a damaged write-ahead log aside: %w", err)
	}
	return nil
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.mark, s.count = nil, mark{}, 0
	return err
}
