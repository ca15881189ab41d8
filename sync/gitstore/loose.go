package gitstore

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// looseHead is more than the type and size at the start of a loose object take.
const looseHead = 32

func (s *Store) loosePath(h plumbing.Hash) string {
	id := h.String()
	return filepath.Join(s.objects, id[:2], id[2:])
}

// loadLoose fails with fs.ErrNotExist if there is no such file.
func (s *Store) loadLoose(h plumbing.Hash) (Object, error) {
	t, size, head, data, err := s.openLoose(h)
	if err != nil {
		return Object{}, err
	}
	all, err := packfmt.Inflate(bufio.NewReader(bytes.NewReader(data)), int64(head)+size)
	if err != nil {
		return Object{}, err
	}
	o := NewObject(t, all[head:])
	if o.Hash != h {
		return Object{}, fmt.Errorf("its contents have the id %s", o.Hash)
	}
	return o, nil
}

func (s *Store) looseSize(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	t, size, _, _, err := s.openLoose(h)
	return t, size, err
}

// openLoose returns what the head of a loose object says, the head's length, and the file's contents, still compressed.
func (s *Store) openLoose(h plumbing.Hash) (t plumbing.ObjectType, size int64, head int, data []byte, err error) {
	data, err = disk.ReadFile(s.fs, s.loosePath(h))
	if err != nil {
		return 0, 0, 0, nil, err
	}
	begin, err := packfmt.InflatePrefix(bufio.NewReader(bytes.NewReader(data)), looseHead)
	if err != nil {
		return 0, 0, 0, nil, err
	}
	t, size, head, err = parseLooseHead(begin)
	return t, size, head, data, err
}

func parseLooseHead(b []byte) (t plumbing.ObjectType, size int64, head int, err error) {
	end := bytes.IndexByte(b, 0)
	word, digits, ok := bytes.Cut(b[:max(0, end)], []byte{' '})
	if ok {
		t, err = plumbing.ParseObjectType(string(word))
	}
	if !ok || err != nil || t.IsDelta() {
		return 0, 0, 0, fmt.Errorf("%w loose object: no type and size at its start", packfmt.ErrMalformed)
	}
	size, err = strconv.ParseInt(string(digits), 10, 64)
	if err != nil || size < 0 || size > maxPackedObject {
		return 0, 0, 0, fmt.Errorf("%w loose object: its size is no number", packfmt.ErrMalformed)
	}
	return t, size, end + 1, nil
}

// looseIDs returns the ids of all loose objects.
func (s *Store) looseIDs() ([]plumbing.Hash, error) {
	var ids []plumbing.Hash
	for i := range 256 {
		dir := fmt.Sprintf("%02x", i)
		entries, err := s.fs.ReadDir(filepath.Join(s.objects, dir))
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if h, ok := parseHash(dir + e.Name()); ok {
				ids = append(ids, h)
			}
		}
	}
	return ids, nil
}
