package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Append adds a record, which must not be empty. Next must have come to the end before. With wait the record is durable
// when Append returns nil; without it survives the end of the process, not a power cut. Errors: ErrFull; after any other
// one the record may turn up again after a power cut, unless later ones took its place.
func (f *File) Append(payload []byte, wait bool) error {
	if f.header.generation == 0 || len(payload) == 0 {
		return fmt.Errorf("append to %s: nothing was begun, or the record is empty", f.file.Name())
	}
	if len(payload) > f.Room() {
		return ErrFull
	}
	sum := f.checksum(f.at, payload)
	b := make([]byte, recordHeader, recordHeader+len(payload))
	binary.LittleEndian.PutUint32(b, uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[4:], sum)
	if err := f.put(append(b, payload...), wait); err != nil {
		return fmt.Errorf("append to %s: %w", f.file.Name(), err)
	}
	f.last, f.at = f.at, place{f.at.offset + recordHeader + int64(len(payload)), sum}
	return nil
}

func (f *File) put(record []byte, wait bool) error {
	_, err := f.file.WriteAt(record, f.at.offset)
	if err == nil && wait {
		err = f.file.Datasync()
	}
	if err != nil {
		// What a failed sync leaves in memory need not be on the disk: the next record has to be written over it.
		return errors.Join(err, f.blank(f.at))
	}
	return nil
}

// Retract takes back the record that was appended last; nothing must have been read or written since.
func (f *File) Retract() error {
	if err := f.blank(f.last); err != nil {
		return fmt.Errorf("take a record of %s back: %w", f.file.Name(), err)
	}
	if err := f.file.Datasync(); err != nil {
		return fmt.Errorf("take a record of %s back: %w", f.file.Name(), err)
	}
	f.at = f.last
	return nil
}

// blank makes an end of the records at p.
func (f *File) blank(p place) error {
	_, err := f.file.WriteAt(make([]byte, recordHeader), p.offset)
	return err
}
