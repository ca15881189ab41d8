package gittree

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
)

// Parse returns the entries of a tree in the order in which they stand. It accepts only what a log may hold: plain
// files and directories, portable names, sorted, each name once. Otherwise the error is a *MalformedError.
func Parse(data []byte) ([]Entry, error) { return parse(data, next) }

// ParseLenient is Parse for trees that others made: it also takes links, submodules, executables, zero-padded modes
// and any name git can write. Order and uniqueness are checked all the same.
func ParseLenient(data []byte) ([]Entry, error) { return parse(data, cut) }

func parse(data []byte, next func([]byte) (line, []byte, error)) ([]Entry, error) {
	var lines []line
	for len(data) > 0 {
		l, rest, err := next(data)
		if err == nil && !follows(l, lines) {
			err = &MalformedError{"out of order, or a name twice"}
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(lines)+1, err)
		}
		lines, data = append(lines, l), rest
	}
	entries := make([]Entry, len(lines))
	for i, l := range lines {
		entries[i] = l.entry()
	}
	return entries, nil
}

// follows reports whether l may stand after lines. A directory can be far behind a file of the same name, because
// names such as "a-b" and "a.b" sort between "a" and "a/".
func follows(l line, lines []line) bool {
	n := len(lines)
	if n > 0 && compareLines(lines[n-1], l) >= 0 {
		return false
	}
	if !l.dir {
		return true
	}
	_, taken := sort.Find(n, func(i int) int { return compare(l.name, false, lines[i].name, lines[i].dir) })
	return !taken
}

func compareEntries(a, b Entry) int {
	return compare([]byte(a.Name), a.IsDir(), []byte(b.Name), b.IsDir())
}

// Encode returns the bytes of the tree with these entries, given in any order. What Parse would refuse is refused with
// a *MalformedError.
func Encode(entries []Entry) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(entries), compareEntries)
	var raw []byte
	for _, e := range sorted {
		raw = strconv.AppendUint(raw, uint64(e.Mode), 8)
		raw = append(raw, ' ')
		raw = append(raw, e.Name...)
		raw = append(raw, 0)
		raw = append(raw, e.Hash[:]...)
	}
	// Reading back catches a NUL in a name too: it would make other entries of the same bytes.
	back, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("encode tree: %w", err)
	}
	if !slices.Equal(back, sorted) {
		return nil, fmt.Errorf("encode tree: %w", &MalformedError{"an entry has no proper name"})
	}
	return raw, nil
}
