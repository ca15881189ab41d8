package gitstore

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// join writes packs one behind the other into a new one, without a look at their objects: a delta names its base by how far
// before it that stands, or by id, and both stay true. Memory does not grow with the packs. If an object is in two of them,
// or one is damaged, it folds them instead.
func (s *Store) join(ctx context.Context, packs []*pack) (*packDraft, error) {
	d := &packDraft{s: s}
	err := d.join(ctx, packs)
	if err == nil {
		return d, nil
	}
	err = errors.Join(err, d.discard())
	if errors.Is(err, packfmt.ErrTwice) || errors.Is(err, packfmt.ErrMalformed) {
		return s.fold(ctx, packs)
	}
	return nil, err
}

func (d *packDraft) join(ctx context.Context, packs []*pack) (err error) {
	dir := d.s.path("objects", "pack")
	if d.pack, err = disk.CreateTemp(d.s.fs, dir, draftPackFile, 0o444); err != nil {
		return err
	}
	if d.index, err = disk.CreateTemp(d.s.fs, dir, draftIndexFile, 0o444); err != nil {
		return err
	}
	parts, err := d.joinBodies(ctx, packs)
	if err != nil {
		return err
	}
	if err := packfmt.JoinIndexes(d.index, parts, d.sum); err != nil {
		return err
	}
	return syncBoth(d.pack, d.index)
}

// joinBodies writes the pack and returns what its index is to be made of.
func (d *packDraft) joinBodies(ctx context.Context, packs []*pack) ([]packfmt.IndexPart, error) {
	count := 0
	for _, p := range packs {
		count += p.index.Count()
	}
	sum := sha1.New()
	buf := bufio.NewWriterSize(d.pack, 256<<10)
	out := io.MultiWriter(buf, sum)
	head := packfmt.AppendFileHeader(nil, uint32(count))
	if _, err := out.Write(head); err != nil {
		return nil, err
	}
	d.size = int64(len(head))
	var parts []packfmt.IndexPart
	for _, p := range packs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		parts = append(parts, packfmt.IndexPart{Index: p.index, Shift: d.size - int64(len(head))})
		n, err := p.copyBody(out, lazyFile{p.files, p.packPath()})
		if err != nil {
			return nil, err
		}
		d.size += n
	}
	sum.Sum(d.sum[:0])
	if _, err := buf.Write(d.sum[:]); err != nil {
		return nil, err
	}
	d.size += packfmt.TrailerSize
	return parts, buf.Flush()
}

// copyBody writes what stands between the pack's header and its checksum, which it verifies. It reads from file.
func (p *pack) copyBody(w io.Writer, file io.ReaderAt) (int64, error) {
	sum := sha1.New()
	var head [packfmt.FileHeaderSize]byte
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, int64(len(head))), head[:]); err != nil {
		return 0, err
	}
	sum.Write(head[:])
	body := io.NewSectionReader(file, packfmt.FileHeaderSize, p.size-packfmt.FileHeaderSize-packfmt.TrailerSize)
	n, err := io.Copy(io.MultiWriter(w, sum), body)
	if err != nil {
		return n, err
	}
	want, err := p.index.PackSum()
	if err == nil && plumbing.Hash(sum.Sum(nil)) != want {
		err = fmt.Errorf("%w pack: the checksum of %s is wrong", packfmt.ErrMalformed, p.packPath())
	}
	return n, err
}
