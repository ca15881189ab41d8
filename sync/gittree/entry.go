package gittree

import (
	"bytes"
	"cmp"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// An Entry is one line of a tree.
type Entry struct {
	Name string
	Hash plumbing.Hash
	Mode filemode.FileMode
}

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Mode == filemode.Dir }

// hashSize is the length of an id in a tree.
const hashSize = len(plumbing.Hash{})

// line is one entry as it stands in a tree's bytes. The zero line is no entry.
type line struct {
	raw  []byte // all of it: mode, space, name, NUL, id
	mode []byte
	name []byte
	hash plumbing.Hash
	dir  bool
}

// cut splits the first entry off raw. It takes every mode that git knows and every name that git can write.
func cut(raw []byte) (line, []byte, error) {
	end := bytes.IndexByte(raw, 0)
	if end < 0 || len(raw)-end-1 < hashSize {
		return line{}, nil, &MalformedError{"the last entry is cut off"}
	}
	mode, name, found := bytes.Cut(raw[:end], []byte{' '})
	if !found || len(name) == 0 || bytes.IndexByte(name, '/') >= 0 {
		return line{}, nil, &MalformedError{"an entry has no proper name"}
	}
	m, known := modeOf(mode)
	if !known {
		return line{}, nil, &MalformedError{"an entry has an unknown mode"}
	}
	end += 1 + hashSize
	l := line{raw: raw[:end], mode: mode, name: name, dir: m == filemode.Dir}
	copy(l.hash[:], raw[end-hashSize:end])
	if l.hash.IsZero() {
		return line{}, nil, &MalformedError{"an entry has no object id"}
	}
	return l, raw[end:], nil
}

// next is cut for the trees of a log: plain files and directories with names that mean the same on every system.
func next(raw []byte) (line, []byte, error) {
	l, rest, err := cut(raw)
	if err != nil {
		return line{}, nil, err
	}
	if s := string(l.mode); s != "40000" && s != "100644" {
		return line{}, nil, &MalformedError{"an entry is neither a plain file nor a directory"}
	}
	if !portable(l.name) {
		return line{}, nil, &MalformedError{"an entry's name is not safe on every system"}
	}
	return l, rest, nil
}

func modeOf(text []byte) (filemode.FileMode, bool) {
	switch string(text) {
	case "40000", "040000": // the zero is a habit of old tools, git reads it
		return filemode.Dir, true
	case "100644":
		return filemode.Regular, true
	case "100664":
		return filemode.Deprecated, true
	case "100755":
		return filemode.Executable, true
	case "120000":
		return filemode.Symlink, true
	case "160000":
		return filemode.Submodule, true
	default:
		return filemode.Empty, false
	}
}

func (l line) entry() Entry {
	mode, _ := modeOf(l.mode)
	return Entry{Name: string(l.name), Hash: l.hash, Mode: mode}
}

// portable reports whether every file system keeps name as it is, and none takes it for git's own folder: HFS+ drops
// invisible Unicode characters, NTFS trailing dots and what follows a colon, and knows .git as git~1 too.
func portable(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c > '~' || c == '/' || c == '\\' || c == ':' {
			return false
		}
	}
	if len(name) == 0 || bytes.IndexByte([]byte(". "), name[len(name)-1]) >= 0 {
		return false
	}
	return !bytes.EqualFold(name, []byte(".git")) && !bytes.EqualFold(name, []byte("git~1"))
}

// compare orders entries as git does: by bytes, a directory as if its name ended in a slash.
func compare(a []byte, aDir bool, b []byte, bDir bool) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return cmp.Compare(byteAt(a, aDir, n), byteAt(b, bDir, n))
}

// byteAt is byte i of a name in its order, -1 behind its end.
func byteAt(name []byte, dir bool, i int) int {
	switch {
	case i < len(name):
		return int(name[i])
	case i == len(name) && dir:
		return '/'
	default:
		return -1
	}
}
