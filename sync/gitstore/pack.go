package gitstore

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

const (
	// smallIndex is up to what size an index is kept in memory. Larger ones are read piece by piece.
	smallIndex = 1 << 20
	// maxPackedObject bounds what a damaged pack can make us allocate.
	maxPackedObject = 1<<31 - 1
)

// A pack is a pack file with its index. Nothing is read before it is needed.
type pack struct {
	files *handles
	fs    disk.FS
	base  string // path of the files without extension

	load  sync.Mutex  // held while the following are being set
	ready atomic.Bool // they are set
	index *packfmt.Index
	size  int64 // of the pack file
	time  int64 // when it was last changed, in nanoseconds

	sniff   sync.Once
	quick   bool // see isQuick
	tally   atomic.Pointer[Tally]
	spoiled atomic.Bool // something in it could not be read when it was to be rewritten
}

func (p *pack) packPath() string  { return p.base + ".pack" }
func (p *pack) indexPath() string { return p.base + ".idx" }

// find returns where the pack holds h. A missing file gives fs.ErrNotExist, a damaged index packfmt.ErrMalformed.
func (p *pack) find(h plumbing.Hash) (offset int64, ok bool, err error) {
	if err := p.open(); err != nil {
		return 0, false, err
	}
	offset, ok, err = p.index.Find(h)
	if err != nil {
		return 0, false, fmt.Errorf("search %s: %w", p.indexPath(), err)
	}
	return offset, ok, nil
}

// open reads what must be known of the index before it can be used. A failure is not remembered: the next call may find
// the files whole.
func (p *pack) open() error {
	if p.ready.Load() {
		return nil
	}
	p.load.Lock()
	defer p.load.Unlock()
	if p.ready.Load() {
		return nil
	}
	info, err := p.fs.Stat(p.packPath())
	if err != nil {
		return err
	}
	index, err := p.openIndex()
	if err != nil {
		return fmt.Errorf("open %s: %w", p.indexPath(), err)
	}
	p.size, p.time = info.Size(), info.ModTime().UnixNano()
	if err := p.checkMatch(index); err != nil {
		return fmt.Errorf("open %s: %w", p.packPath(), err)
	}
	p.index = index
	p.ready.Store(true)
	return nil
}

// adopt spares open the reading of what this process has just written.
func (p *pack) adopt(index []byte, size int64) error {
	p.load.Lock()
	defer p.load.Unlock()
	if p.ready.Load() {
		return nil
	}
	x, err := packfmt.ReadIndex(index)
	if err != nil {
		return err
	}
	p.index, p.size, p.time = x, size, time.Now().UnixNano()
	p.ready.Store(true)
	return nil
}

func (p *pack) openIndex() (*packfmt.Index, error) {
	info, err := p.fs.Stat(p.indexPath())
	if err != nil {
		return nil, err
	}
	if info.Size() > smallIndex {
		return packfmt.OpenIndex(lazyFile{p.files, p.indexPath()}, info.Size())
	}
	data, err := disk.ReadFile(p.fs, p.indexPath())
	if err != nil {
		return nil, err
	}
	index, err := packfmt.ReadIndex(data)
	if err != nil {
		return nil, err
	}
	return index, index.VerifyChecksum()
}

// checkMatch tells a torn pack from a whole one by its two ends: the number of objects, and the checksum that the index
// knows as well.
func (p *pack) checkMatch(index *packfmt.Index) error {
	var head [packfmt.FileHeaderSize]byte
	var tail [packfmt.TrailerSize]byte
	if p.size < int64(len(head)+len(tail)) {
		return fmt.Errorf("%w pack: %d bytes", packfmt.ErrMalformed, p.size)
	}
	if err := p.readFull(head[:], 0); err != nil {
		return err
	}
	if err := p.readFull(tail[:], p.size-int64(len(tail))); err != nil {
		return err
	}
	count, err := packfmt.ParseFileHeader(head[:])
	if err != nil {
		return err
	}
	sum, err := index.PackSum()
	if err != nil {
		return err
	}
	if int(count) != index.Count() || sum != plumbing.Hash(tail) {
		return fmt.Errorf("%w pack: it is not the one that its index describes", packfmt.ErrMalformed)
	}
	return nil
}

func (p *pack) readFull(b []byte, at int64) error {
	n, err := p.files.readAt(p.packPath(), b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// section returns a reader of the pack from offset to its trailer.
func (p *pack) section(offset int64) *io.SectionReader {
	end := p.size - packfmt.TrailerSize
	return io.NewSectionReader(lazyFile{p.files, p.packPath()}, offset, max(0, end-offset))
}

func (p *pack) drop() error {
	return errors.Join(p.files.drop(p.packPath()), p.files.drop(p.indexPath()))
}
