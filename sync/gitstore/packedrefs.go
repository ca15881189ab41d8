package gitstore

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// A packedRef is one ref in packed-refs, with the lines it stands in.
type packedRef struct {
	name  string
	hash  plumbing.Hash
	lines string // as they are in the file; a tag's second line tells what it leads to
}

// packedRefsHeader claims no more than is surely true of a file from which lines were removed.
const packedRefsHeader = "# pack-refs with: peeled fully-peeled sorted \n"

// readPackedRefs returns the refs in packed-refs in the order of the file; none if there is no such file.
func (s *Store) readPackedRefs() ([]packedRef, error) {
	path := s.path("packed-refs")
	data, err := disk.ReadFile(s.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	refs, bad := parsePackedRefs(string(data))
	if bad > 0 {
		return nil, &GarbledRefError{Name: "packed-refs", Path: path, Line: bad}
	}
	return refs, nil
}

// parsePackedRefs returns the number of the first line that is garbled, from 1; 0 if none is.
func parsePackedRefs(text string) (refs []packedRef, bad int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if !strings.HasSuffix(line, "\n") {
			return nil, n
		}
		switch line[0] {
		case '#':
		case '^':
			if len(refs) == 0 {
				return nil, n
			}
			refs[len(refs)-1].lines += line
		default:
			r, ok := parsePackedRef(line)
			if !ok {
				return nil, n
			}
			refs = append(refs, r)
		}
	}
	return refs, 0
}

func parsePackedRef(line string) (packedRef, bool) {
	id, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	h, ok := parseHash(id)
	return packedRef{name: name, hash: h, lines: line}, ok && !h.IsZero() && name != ""
}

func formatPackedRefs(refs []packedRef) []byte {
	out := []byte(packedRefsHeader)
	for _, r := range refs {
		out = append(out, r.lines...)
	}
	return out
}
