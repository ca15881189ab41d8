package packfmt

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// An IndexEntry says where a pack holds an object.
type IndexEntry struct {
	Hash   plumbing.Hash
	Offset int64  // of the entry's header, from the start of the pack
	CRC    uint32 // IEEE, of the entry's header and compressed stream
}

// farOffset is the first offset that does not fit into the 31 bits of an index's offset table.
const farOffset = 1 << 31

// WriteIndex writes the index of the pack with the given checksum. It sorts entries by id.
func WriteIndex(w io.Writer, entries []IndexEntry, pack plumbing.Hash) error {
	slices.SortFunc(entries, func(a, b IndexEntry) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	sum := sha1.New()
	// A buffered writer keeps its first error and returns it from Flush.
	out := bufio.NewWriterSize(w, 1<<16)
	both := bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<12)
	both.Write(indexMagic)
	writeFanout(both, entries)
	writeTables(both, entries)
	both.Write(pack[:])
	if err := both.Flush(); err != nil {
		return err
	}
	out.Write(sum.Sum(nil))
	return out.Flush()
}

func writeFanout(w *bufio.Writer, entries []IndexEntry) {
	var counts [256]uint32
	for _, e := range entries {
		counts[e.Hash[0]]++
	}
	total := uint32(0)
	for _, n := range counts {
		total += n
		writeUint32(w, total)
	}
}

func writeTables(w *bufio.Writer, entries []IndexEntry) {
	for _, e := range entries {
		w.Write(e.Hash[:])
	}
	for _, e := range entries {
		writeUint32(w, e.CRC)
	}
	var far []int64
	for _, e := range entries {
		if e.Offset < farOffset {
			writeUint32(w, uint32(e.Offset))
			continue
		}
		writeUint32(w, farOffset|uint32(len(far)))
		far = append(far, e.Offset)
	}
	for _, offset := range far {
		w.Write(binary.BigEndian.AppendUint64(nil, uint64(offset)))
	}
}

func writeUint32(w *bufio.Writer, v uint32) {
	w.Write(binary.BigEndian.AppendUint32(w.AvailableBuffer(), v))
}
