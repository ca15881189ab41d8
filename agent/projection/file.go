package projection

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"cairn/internal/disk"
	"cairn/internal/event"
)

// fileHead begins a file of facts. A file with another one, of another version
// of this package or of the event format, is as good as empty.
var fileHead = fmt.Appendf(nil, "cairn facts 1 %d\n", event.Schema)

const (
	perFact    = 64   // about what one fact takes on disk, in bytes
	frameFacts = 4096 // facts in one frame at most
)

// A File keeps the facts of one space between runs, as frames that are only
// ever added. Nothing is synced: after a power cut the file may be behind the
// log, torn or gone, and what it lacks is read from the log again. It is not
// safe for concurrent use, and only one process at a time may have it open.
type File struct {
	file disk.File
	size int64 // of the valid frames
	mark Mark  // of the last of them
	buf  []byte
}

// Load reads the facts at path, without a lock and without a change. A file
// that is missing, torn or damaged gives the facts and the mark of its valid
// start.
func Load(fsys disk.FS, path string) (*Set, Mark, error) {
	file, err := disk.Open(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return NewSet(), Mark{}, nil
	}
	if err != nil {
		return nil, Mark{}, fmt.Errorf("load the facts of a space: %w", err)
	}
	b, err := readAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, Mark{}, fmt.Errorf("load the facts of a space: %w", err)
	}
	set, mark, _ := decode(b)
	return set, mark, nil
}

func readAll(f disk.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}

// OpenFile reads the facts at path as Load does and opens the file for more,
// cut to its valid start. The caller closes it.
func OpenFile(fsys disk.FS, path string) (*File, *Set, Mark, error) {
	file, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, Mark{}, fmt.Errorf("open the facts of a space: %w", err)
	}
	f := &File{file: file}
	set, err := f.read()
	if err != nil {
		return nil, nil, Mark{}, errors.Join(fmt.Errorf("open the facts of a space: %w", err), file.Close())
	}
	return f, set, f.mark, nil
}

func (f *File) read() (*Set, error) {
	b, err := readAll(f.file)
	if err != nil {
		return nil, err
	}
	set, mark, valid := decode(b)
	f.mark = mark
	if err := f.cut(int64(valid)); err != nil {
		return nil, err
	}
	if valid == 0 {
		err = f.write(fileHead)
	}
	return set, err
}

// decode returns what the valid start of a file holds, and its length.
func decode(b []byte) (*Set, Mark, int) {
	set, mark := NewSet(), Mark{}
	if !bytes.HasPrefix(b, fileHead) {
		return set, mark, 0
	}
	set.grow(len(b) / perFact)
	rest := b[len(fileHead):]
	var facts []Fact
	for {
		m, found, after, err := cutFrame(rest, facts)
		if err != nil {
			return set, mark, len(b) - len(rest)
		}
		set.Add(found...)
		mark, rest, facts = m, after, found
	}
}

// Append adds facts and the mark that holds once they are in the set. After
// an error the file ends with some of them, under the former mark.
func (f *File) Append(mark Mark, facts ...Fact) error {
	for len(facts) > frameFacts {
		if err := f.frame(f.mark, facts[:frameFacts]); err != nil {
			return err
		}
		facts = facts[frameFacts:]
	}
	return f.frame(mark, facts)
}

func (f *File) frame(mark Mark, facts []Fact) error {
	f.buf = appendFrame(f.buf[:0], mark, facts)
	if err := f.write(f.buf); err != nil {
		return fmt.Errorf("save the facts of a space: %w", err)
	}
	f.mark = mark
	return nil
}

// write adds all of b or nothing.
func (f *File) write(b []byte) error {
	if _, err := f.file.Write(b); err != nil {
		return errors.Join(err, f.cut(f.size))
	}
	f.size += int64(len(b))
	return nil
}

func (f *File) cut(size int64) error {
	if err := f.file.Truncate(size); err != nil {
		return err
	}
	f.size = size
	_, err := f.file.Seek(size, io.SeekStart)
	return err
}

// Reset takes all facts out of the file, for a history that was rewritten.
func (f *File) Reset() error {
	f.mark = Mark{}
	if err := f.cut(int64(len(fileHead))); err != nil {
		return fmt.Errorf("empty the facts of a space: %w", err)
	}
	return nil
}

// Close closes the file. What was appended is in it.
func (f *File) Close() error { return f.file.Close() }
