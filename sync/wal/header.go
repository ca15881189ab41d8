package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The layout of a header slot, of which nothing but magic and checksum may ever change:
//
//	 0  magic
//	 8  checksum of all that follows
//	12  version
//	16  generation
//	24  length of the mark
//	26  mark, then zeros
//
// Each slot has a block of the disk to itself.
const (
	slots      = 2
	slotEvery  = 4096
	slotSize   = 512
	dataOffset = slots * slotEvery

	sumAt     = 8
	versionAt = 12
	genAt     = 16
	lengthAt  = 24
	markAt    = 26
)

const (
	magic   = "cairnwal"
	version = 1
)

// MaxMark is how long a mark may be.
const MaxMark = slotSize - markAt

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A header is the contents of a slot. The zero header is that of a file in which nothing was begun yet.
type header struct {
	generation uint64
	mark       []byte
}

func (h header) encode() []byte {
	b := make([]byte, slotSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[versionAt:], version)
	binary.LittleEndian.PutUint64(b[genAt:], h.generation)
	binary.LittleEndian.PutUint16(b[lengthAt:], uint16(len(h.mark)))
	copy(b[markAt:], h.mark)
	binary.LittleEndian.PutUint32(b[sumAt:], crc32.Checksum(b[versionAt:], castagnoli))
	return b
}

// What a slot can be besides valid.
var (
	errBlank   = errors.New("never written")
	errSpoiled = errors.New("spoiled")
)

func decodeHeader(b []byte) (header, error) {
	if isZero(b) {
		return header{}, errBlank
	}
	if string(b[:len(magic)]) != magic || binary.LittleEndian.Uint32(b[sumAt:]) != crc32.Checksum(b[versionAt:], castagnoli) {
		return header{}, errSpoiled
	}
	if v := binary.LittleEndian.Uint32(b[versionAt:]); v != version {
		return header{}, &NewerError{Version: v}
	}
	length := int(binary.LittleEndian.Uint16(b[lengthAt:]))
	if length > MaxMark {
		return header{}, errSpoiled
	}
	return header{
		generation: binary.LittleEndian.Uint64(b[genAt:]),
		mark:       b[markAt : markAt+length : markAt+length],
	}, nil
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// readHeader returns the header in force and its slot. One spoiled slot is what a power cut leaves when it meets Begin;
// then the other one counts, even if it was never written.
func (f *File) readHeader() (best header, slot int, err error) {
	spoiled := 0
	for i := range slots {
		var b [slotSize]byte
		if _, err := f.file.ReadAt(b[:], int64(i)*slotEvery); err != nil {
			if errors.Is(err, io.EOF) {
				err = &DamagedError{Path: f.file.Name(), Reason: "it is too short"}
			}
			return header{}, 0, err
		}
		h, err := decodeHeader(b[:])
		if newer, ok := errors.AsType[*NewerError](err); ok {
			newer.Path = f.file.Name()
			return header{}, 0, newer
		}
		if err == errSpoiled {
			spoiled++
		}
		if err == nil && h.generation > best.generation {
			best, slot = h, i
		}
	}
	if spoiled == slots {
		return header{}, 0, &DamagedError{Path: f.file.Name(), Reason: "both of its headers are spoiled"}
	}
	return best, slot, nil
}

// Begin empties the file and sets its mark, of at most MaxMark bytes. What it held is no longer needed: if wait is false,
// the new generation becomes durable together with its first record that is waited for, and a power cut before that may
// bring back the former mark with some of its records.
func (f *File) Begin(mark []byte, wait bool) error {
	if len(mark) > MaxMark {
		return fmt.Errorf("a mark of %d bytes is too long", len(mark))
	}
	next := header{generation: f.header.generation + 1, mark: append([]byte(nil), mark...)}
	slot := (f.slot + 1) % slots
	if _, err := f.file.WriteAt(next.encode(), int64(slot)*slotEvery); err != nil {
		return fmt.Errorf("begin a generation: %w", err)
	}
	if wait {
		if err := f.file.Datasync(); err != nil {
			return fmt.Errorf("begin a generation: %w", err)
		}
	}
	f.header, f.slot = next, slot
	f.Rewind()
	return nil
}

// Erase empties the file as Begin does, without a mark, and overwrites what it ever held, durably. Next finds nothing
// until the next Begin.
func (f *File) Erase() error {
	if err := f.Begin(nil, true); err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	for at := int64(dataOffset); at < f.size; at += int64(len(zeros)) {
		if _, err := f.file.WriteAt(zeros[:min(f.size-at, int64(len(zeros)))], at); err != nil {
			return fmt.Errorf("erase %s: %w", f.file.Name(), err)
		}
	}
	if err := f.file.Datasync(); err != nil {
		return fmt.Errorf("erase %s: %w", f.file.Name(), err)
	}
	return nil
}
