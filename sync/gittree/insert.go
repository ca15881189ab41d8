package gittree

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// A File is a blob and the path where it belongs, with slashes: "events/2025-01/02/03/x.json".
type File struct {
	Path string
	Blob plumbing.Hash
}

// Insert returns the tree that is root plus blob at path, and the tree objects that have to be stored for it, inner
// directories first. The blob itself is not looked at. Errors: ErrExists, *MalformedError, or the Reader's.
func Insert(r Reader, root plumbing.Hash, path string, blob plumbing.Hash) (plumbing.Hash, []gitstore.Object, error) {
	return InsertMany(r, root, []File{{path, blob}})
}

// InsertMany is Insert for many files in one go: each directory is made once. All files are inserted or none.
func InsertMany(r Reader, root plumbing.Hash, files []File) (plumbing.Hash, []gitstore.Object, error) {
	if len(files) == 0 {
		return root, nil, nil
	}
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := checkFiles(sorted); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	in := inserter{r: r}
	id, err := in.insert(root, sorted, "")
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	return id, in.made, nil
}

// checkFiles checks each path by itself and against the others.
func checkFiles(sorted []File) error {
	for i, f := range sorted {
		if err := checkPath(f.Path); err != nil {
			return err
		}
		if f.Blob.IsZero() {
			return fmt.Errorf("insert %s: %w", f.Path, &MalformedError{"the file has no object id"})
		}
		inside := f.Path + "/"
		j := sort.Search(len(sorted), func(j int) bool { return sorted[j].Path >= inside })
		twice := i > 0 && sorted[i-1].Path == f.Path
		if twice || j < len(sorted) && strings.HasPrefix(sorted[j].Path, inside) {
			return fmt.Errorf("insert %s twice: %w", f.Path, ErrExists)
		}
	}
	return nil
}

func checkPath(path string) error {
	if strings.Count(path, "/") > MaxDepth {
		return fmt.Errorf("insert: %w", &MalformedError{fmt.Sprintf("the path is deeper than %d", MaxDepth)})
	}
	for name := range strings.SplitSeq(path, "/") {
		if !portable([]byte(name)) {
			return fmt.Errorf("insert: %w", &MalformedError{"a part of the path is not safe on every system"})
		}
	}
	return nil
}

type inserter struct {
	r    Reader
	made []gitstore.Object
}

// insert makes the directory that is tree plus files. The files are sorted, and all their paths begin with dir. Sorted
// paths are in the order of the tree's entries, because a path continues with a slash exactly where git adds one.
func (in *inserter) insert(tree plumbing.Hash, files []File, dir string) (plumbing.Hash, error) {
	old, err := loadTable(in.r, tree, strings.Count(dir, "/"))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	raw := make([]byte, 0, len(old.raw)+64*len(files))
	copied := 0
	for len(files) > 0 {
		name, isDir, n := group(files, dir)
		at, found := old.search(name, isDir)
		id, err := in.child(old, at, found, files[:n], dir+name)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		raw = append(raw, old.raw[copied:old.starts[at]]...)
		raw = appendLine(raw, isDir, name, id)
		if found {
			at++
		}
		copied, files = old.starts[at], files[n:]
	}
	raw = append(raw, old.raw[copied:]...)
	o := gitstore.NewObject(plumbing.TreeObject, raw)
	in.made = append(in.made, o)
	return o.Hash, nil
}

// group returns the name of the first file's entry in dir, whether that is a directory, and how many files are in it.
func group(files []File, dir string) (name string, isDir bool, n int) {
	name, _, isDir = strings.Cut(files[0].Path[len(dir):], "/")
	if !isDir {
		return name, false, 1
	}
	inside := dir + name + "/"
	n = 1
	for n < len(files) && strings.HasPrefix(files[n].Path, inside) {
		n++
	}
	return name, true, n
}

// child returns the id for the new entry at path: the blob of the only file, or of the directory with the files added.
// old is the parent directory; at and found say where the entry is in it.
func (in *inserter) child(old table, at int, found bool, files []File, path string) (plumbing.Hash, error) {
	isFile := files[0].Path == path
	name := path[strings.LastIndexByte(path, '/')+1:]
	if isFile && found || old.has(name, isFile) {
		return plumbing.ZeroHash, fmt.Errorf("insert %s: %w", files[0].Path, ErrExists)
	}
	if isFile {
		return files[0].Blob, nil
	}
	var below plumbing.Hash
	if found {
		l, err := old.line(at)
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("insert %s: %w", files[0].Path, err)
		}
		below = l.hash
	}
	return in.insert(below, files, path+"/")
}

func appendLine(raw []byte, dir bool, name string, id plumbing.Hash) []byte {
	mode := "100644 "
	if dir {
		mode = "40000 "
	}
	raw = append(raw, mode...)
	raw = append(raw, name...)
	raw = append(raw, 0)
	return append(raw, id[:]...)
}
