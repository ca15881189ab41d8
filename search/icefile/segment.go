package icefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// Type and Version name the format to Bluge.
const (
	Type           = "ice with rows"
	Version uint32 = 1
)

// A Segment is a segment that ice reads, whose lists can be read in rows
// besides, and which has Rows. It is safe for concurrent use.
type Segment struct {
	*ice.Segment
	file  *segment.Data
	data  *segment.Data          // what ice reads of it
	terms map[string]*vellum.FST // by field
	rows  *Rows
	words wordList // of the stored values
}

// Load makes a segment of the bytes of a file. Damaged bytes may make any later
// use panic.
func Load(file *segment.Data) (s *Segment, err error) {
	defer func() {
		if r := recover(); r != nil { // ice looks where damaged bytes point
			s, err = nil, fmt.Errorf("load a segment: %w: %v", ErrDamaged, r)
		}
	}()
	end := file.Len() - trailerLen - checksumLen
	if end < 0 {
		return nil, errRows
	}
	trailer, err := file.Read(end, end+trailerLen)
	if err != nil {
		return nil, err
	}
	size, nameless, names := readTrailer(trailer)
	if size > uint64(end) {
		return nil, errRows
	}
	start := end - int(size)
	s = &Segment{file: file, data: file.Slice(0, start)}
	if err := s.checkColumns(); err != nil {
		return nil, err
	}
	loaded, err := ice.Load(s.data)
	if err != nil {
		return nil, err
	}
	own, ok := loaded.(*ice.Segment)
	if !ok {
		return nil, fmt.Errorf("ice loads a %T", loaded)
	}
	s.Segment = own
	rows, err := file.Read(start, end)
	if err != nil {
		return nil, err
	}
	if s.rows, err = readRows(rows, s.Count(), nameless, names); err != nil {
		return nil, err
	}
	if err := s.loadWords(); err != nil {
		return nil, err
	}
	return s, s.loadTerms()
}

// checkColumns keeps ice from looking for columns of its own: it makes room for
// as many as it is told there are.
func (s *Segment) checkColumns() error {
	const place = 8
	if s.data.Len() < footerLen {
		return errOutside
	}
	at := uint64(s.data.Len() - footerLen + 3*place)
	columns, err := s.read(at, place)
	if err == nil && binary.BigEndian.Uint64(columns) != noColumns {
		err = fmt.Errorf("load a segment: %w", ErrDamaged)
	}
	return err
}

// ErrDamaged means that the bytes of a segment are not those that were written.
var ErrDamaged = errors.New("a segment is damaged")

// check compares the segment with the checksum at its end.
func (s *Segment) check() error {
	end := s.file.Len() - checksumLen
	body, err := s.file.Read(0, end)
	if err != nil {
		return err
	}
	sum, err := s.file.Read(end, s.file.Len())
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	return nil
}

// Type is that of the format.
func (s *Segment) Type() string { return Type }

// Version is that of the format.
func (s *Segment) Version() uint32 { return Version }

// WriteTo writes the segment as a file.
func (s *Segment) WriteTo(w io.Writer, _ chan struct{}) (int64, error) { return s.file.WriteTo(w) }
