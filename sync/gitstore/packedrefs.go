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
	refs, ok := parsePackedRefs(string(data))
	if !ok {
		return nil, &GarbledRefError{Name: "packed-refs", Path: path}
	}
	return refs, nil
}

func parsePackedRefs(text string) (refs []packedRef, ok bool) {
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			return nil, false
		}
		switch line[0] {
		case '#':
		case '^':
			if len(refs) == 0 {
				return nil, false
			}
			refs[len(refs)-1].lines += line
		default:
			r, ok := parsePackedRef(line)
			if !ok {
				return nil, false
			}
			refs = append(refs, r)
		}
	}
	return refs, true
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
