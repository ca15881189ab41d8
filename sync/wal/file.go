package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cairn/internal/disk"
)

// MinSize is the smallest size of a file.
const MinSize = dataOffset + slotEvery

// recordHeader is the length of what stands before each payload: its length and the checksum.
const recordHeader = 8

// A File is an open write-ahead log. It is not safe for concurrent use; between processes, and between Files on one path,
// the caller sees to it that only one is used at a time, and calls Refresh when its turn comes.
type File struct {
	file   disk.File
	size   int64
	header header
	slot   int // of header
	at     place
	last   place // before the record that was appended last
}

// A place is the end of a record, or the beginning of the first.
type place struct {
	offset int64
	sum    uint32 // of the record that ends there
}

// Create makes a file of the given size, at least MinSize, in which nothing is begun. What was at path is replaced. It is
// durable when Create returns nil.
func Create(fsys disk.FS, path string, size int64) error {
	if size < MinSize {
		return fmt.Errorf("make write-ahead log %s: %d bytes are too few", path, size)
	}
	if err := create(fsys, path, size); err != nil {
		return fmt.Errorf("make write-ahead log %s: %w", path, err)
	}
	return nil
}

func create(fsys disk.FS, path string, size int64) error {
	tmp := path + ".new"
	f, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(disk.Preallocate(f, size), f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// Open opens the file at path and looks at it as Refresh does. If there is none the error is fs.ErrNotExist. The caller
// closes it.
func Open(fsys disk.FS, path string) (*File, error) { return open(fsys, path, os.O_RDWR) }

// OpenToRead is Open for somebody who only looks, perhaps while others write: what they are about to append need not be
// seen yet. The file cannot be written.
func OpenToRead(fsys disk.FS, path string) (*File, error) { return open(fsys, path, os.O_RDONLY) }

func open(fsys disk.FS, path string, flag int) (*File, error) {
	file, err := fsys.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.measure(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := f.Refresh(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) measure() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if f.size = info.Size(); f.size < MinSize {
		return &DamagedError{Path: f.file.Name(), Reason: "it is too short"}
	}
	f.Rewind()
	return nil
}

// Close releases the file. What was appended without waiting is on its way to the disk.
func (f *File) Close() error { return f.file.Close() }

// Stat describes the file that is open, which need not be the one that has its name now.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Mark is the mark of the generation; empty if nothing was begun.
func (f *File) Mark() []byte { return f.header.mark }

// Capacity is the length of the longest record that fits into an empty file.
func (f *File) Capacity() int { return int(f.size - dataOffset - recordHeader) }

// Room is the length of the longest record that Append takes now.
func (f *File) Room() int { return max(0, int(f.size-f.at.offset-recordHeader)) }

// Refresh finds out what others have written to the file. If the generation is still the same it returns true, and Next
// goes on where it was; otherwise Next begins with the first record.
func (f *File) Refresh() (same bool, err error) {
	h, slot, err := f.readHeader()
	if err != nil {
		return false, fmt.Errorf("read the header of %s: %w", f.file.Name(), err)
	}
	if h.generation == f.header.generation {
		return true, nil
	}
	f.header, f.slot = h, slot
	f.Rewind()
	return false, nil
}

// Rewind makes Next begin with the first record.
func (f *File) Rewind() {
	f.at = place{offset: dataOffset}
	f.last = f.at
}

// Next returns the record behind the one it returned, or Append wrote, last; nil if there is none.
func (f *File) Next() ([]byte, error) {
	payload, end, err := f.read(f.at)
	if err != nil || payload == nil {
		return nil, err
	}
	f.last, f.at = f.at, end
	return payload, nil
}

func (f *File) read(from place) (payload []byte, end place, err error) {
	if f.header.generation == 0 || from.offset+recordHeader >= f.size {
		return nil, from, nil
	}
	var head [recordHeader]byte
	if err := f.readFull(head[:], from.offset); err != nil {
		return nil, from, err
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	end.offset = from.offset + recordHeader + length
	if length == 0 || end.offset > f.size {
		return nil, from, nil
	}
	payload = make([]byte, length)
	if err := f.readFull(payload, from.offset+recordHeader); err != nil {
		return nil, from, err
	}
	end.sum = f.checksum(from, payload)
	if end.sum != binary.LittleEndian.Uint32(head[4:]) {
		return nil, from, nil
	}
	return payload, end, nil
}

func (f *File) readFull(b []byte, at int64) error {
	n, err := f.file.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // it had this length when it was opened
	}
	return fmt.Errorf("read a record of %s: %w", f.file.Name(), err)
}

// checksum is that of a record with this payload behind from.
func (f *File) checksum(from place, payload []byte) uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], f.header.generation)
	binary.LittleEndian.PutUint32(b[8:], from.sum)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(payload)))
	return crc32.Update(crc32.Checksum(b[:], castagnoli), castagnoli, payload)
}
