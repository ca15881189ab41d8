package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/blugelabs/bluge/index"

	"cairn/internal/disk"
)

// Check reads every file of the index and compares it with its checksum, which
// nothing else does. If one differs it returns a *DamagedError, and so does
// every later call. The Index can be used meanwhile.
func (x *Index) Check(ctx context.Context) (err error) {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	defer x.health.watch(&err)
	snap, err := x.writer.bluge.Reader()
	if err != nil {
		return fmt.Errorf("check the search index: %w", err)
	}
	defer func() { err = errors.Join(err, snap.Close()) }() // until then the files stay
	for _, s := range snap.Segments() {
		path := filepath.Join(x.home.path(x.generation), itemName(index.ItemKindSegment, s.ID()))
		if err := checkSegment(ctx, x.home.fsys, path); err != nil {
			return fmt.Errorf("check the search index: %w", err)
		}
	}
	return nil
}

var errChecksum = errors.New("the checksum is wrong")

// checkSegment takes a file that is not there for a segment that has not been
// written yet.
func checkSegment(ctx context.Context, fsys disk.FS, path string) error {
	f, err := disk.Open(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sum, want, err := sumSegment(ctx, f)
	if err != nil {
		return err
	}
	if sum != want {
		return &DamagedError{Dir: filepath.Dir(path), Err: fmt.Errorf("%s: %w", filepath.Base(path), errChecksum)}
	}
	return nil
}

// sumSegment is the checksum of a segment, and what its last four bytes say it
// should be.
func sumSegment(ctx context.Context, f disk.File) (sum, want uint32, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	body := io.LimitReader(f, info.Size()-crc32.Size)
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		n, err := body.Read(buf)
		sum = crc32.Update(sum, crc32.IEEETable, buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if _, err := io.ReadFull(f, buf[:crc32.Size]); err != nil {
		return 0, 0, err
	}
	return sum, binary.BigEndian.Uint32(buf), nil
}
