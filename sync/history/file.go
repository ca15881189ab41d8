package history

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// The format of git's commit-graph file, gitformat-commit-graph(5): a header, a table of chunks, the chunks, and the
// SHA-1 of all that. Commits stand in the order of their ids, and a commit names its parents by their places.
const (
	fileMagic   = "CGPH\x01\x01" // version 1, with SHA-1
	fileHeader  = 8
	chunkEntry  = 12 // name and offset
	fanoutSize  = 256 * 4
	hashSize    = len(plumbing.Hash{})
	recordSize  = hashSize + 16 // tree, two parents, generation and time
	noParent    = 0x70000000    // in place of a parent's place
	maxSeconds  = 1<<34 - 1     // a time has that many bits
	maxCommits  = noParent / 2  // far below what the places can tell apart
	chunkFanout = "OIDF"
	chunkIDs    = "OIDL"
	chunkData   = "CDAT"
)

// A file is a commit-graph file in memory, with the commits numbered as a Graph needs it. It never changes.
type file struct {
	fanout  []byte
	ids     []byte
	records []byte
	place   []int32 // by number
	number  []int32 // by place
}

func (f *file) count() int32 {
	if f == nil {
		return 0
	}
	return int32(len(f.place))
}

func (f *file) hash(n int32) (h plumbing.Hash) {
	copy(h[:], f.id(f.place[n]))
	return h
}

func (f *file) tree(n int32) (h plumbing.Hash) {
	copy(h[:], f.record(f.place[n]))
	return h
}

func (f *file) seconds(n int32) int64 {
	r := f.record(f.place[n])
	high := int64(binary.BigEndian.Uint32(r[hashSize+8:]) & 3)
	return high<<32 | int64(binary.BigEndian.Uint32(r[hashSize+12:]))
}

// parents appends the numbers of n's parents to list.
func (f *file) parents(n int32, list []int32) []int32 {
	for _, p := range f.parentPlaces(f.place[n]) {
		if p != noParent {
			list = append(list, f.number[p])
		}
	}
	return list
}

func (f *file) id(place int32) []byte     { return f.ids[int(place)*hashSize:][:hashSize] }
func (f *file) record(place int32) []byte { return f.records[int(place)*recordSize:][:recordSize] }
func (f *file) level(place int32) uint32 {
	return binary.BigEndian.Uint32(f.record(place)[hashSize+8:]) >> 2
}

func (f *file) parentPlaces(place int32) [2]uint32 {
	r := f.record(place)[hashSize:]
	return [2]uint32{binary.BigEndian.Uint32(r), binary.BigEndian.Uint32(r[4:])}
}

// find returns the number of a commit.
func (f *file) find(h plumbing.Hash) (int32, bool) {
	if f == nil {
		return 0, false
	}
	lo, hi := int32(0), f.upTo(h[0])
	if h[0] > 0 {
		lo = f.upTo(h[0] - 1)
	}
	for lo < hi {
		switch mid := lo + (hi-lo)/2; bytes.Compare(f.id(mid), h[:]) {
		case 0:
			return f.number[mid], true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// upTo is how many ids begin with b or less.
func (f *file) upTo(b byte) int32 { return int32(binary.BigEndian.Uint32(f.fanout[4*int(b):])) }

// parseFile reads a commit-graph file and makes sure that it is whole and that its parts agree with each other; whether
// they agree with the commits is for the caller to find out. It refuses as well what git has and this package does not
// use: chains of files, and merges of more than two.
func parseFile(raw []byte) (*file, error) {
	chunks, err := cutChunks(raw)
	if err != nil {
		return nil, err
	}
	f := &file{fanout: chunks[chunkFanout], ids: chunks[chunkIDs], records: chunks[chunkData]}
	n := len(f.ids) / hashSize
	if len(f.fanout) != fanoutSize || n > maxCommits || len(f.ids) != n*hashSize || len(f.records) != n*recordSize {
		return nil, fileError("the tables of the commit-graph do not fit together")
	}
	if err := f.checkIDs(n); err != nil {
		return nil, err
	}
	if err := f.checkLevels(n); err != nil {
		return nil, err
	}
	f.enumerate(n)
	return f, nil
}

// fileError is why a commit-graph file is of no use.
type fileError string

func (e fileError) Error() string { return string(e) }

// cutChunks checks a file's frame and returns its chunks by name.
func cutChunks(raw []byte) (map[string][]byte, error) {
	end := len(raw) - sha1.Size
	if end < fileHeader+chunkEntry || string(raw[:len(fileMagic)]) != fileMagic {
		return nil, fileError("it is no commit-graph of version 1")
	}
	if sum := sha1.Sum(raw[:end]); !bytes.Equal(sum[:], raw[end:]) {
		return nil, fileError("the checksum of the commit-graph is wrong")
	}
	count, chained := int(raw[6]), raw[7] != 0
	table := raw[fileHeader:end]
	if chained || len(table) < (count+1)*chunkEntry {
		return nil, fileError("the commit-graph is one of a chain, or its table of chunks is cut off")
	}
	chunks := make(map[string][]byte, count)
	for i := range count {
		from := binary.BigEndian.Uint64(table[i*chunkEntry+4:])
		to := binary.BigEndian.Uint64(table[(i+1)*chunkEntry+4:])
		if from > to || to > uint64(end) {
			return nil, fileError("a chunk lies outside the commit-graph")
		}
		chunks[string(table[i*chunkEntry:][:4])] = raw[from:to]
	}
	return chunks, nil
}

// checkIDs makes sure that a search finds every id.
func (f *file) checkIDs(n int) error {
	for b := range 256 {
		if b > 0 && f.upTo(byte(b)) < f.upTo(byte(b-1)) || int(f.upTo(byte(b))) > n || f.upTo(byte(b)) < 0 {
			return fileError("the fan-out of the commit-graph is out of order")
		}
	}
	for i := range int32(n) {
		id := f.id(i)
		if i > 0 && bytes.Compare(f.id(i-1), id) >= 0 || i >= f.upTo(id[0]) || id[0] > 0 && i < f.upTo(id[0]-1) {
			return fileError("the ids of the commit-graph are out of order")
		}
	}
	if int(f.upTo(255)) != n {
		return fileError("the fan-out of the commit-graph is out of order")
	}
	return nil
}

// checkLevels makes sure that each commit's generation is one more than the greatest of its parents'. Then no commit is
// its own ancestor.
func (f *file) checkLevels(n int) error {
	for i := range int32(n) {
		above := uint32(0)
		for _, p := range f.parentPlaces(i) {
			if p == noParent {
				continue
			}
			if p >= uint32(n) {
				return fileError("a parent lies outside the commit-graph, or a merge is of more than two")
			}
			above = max(above, f.level(int32(p)))
		}
		if f.level(i) != above+1 {
			return fileError("a generation in the commit-graph is wrong, or was not computed")
		}
	}
	return nil
}

// enumerate numbers the commits, parents before children: by generation.
func (f *file) enumerate(n int) {
	f.place, f.number = make([]int32, n), make([]int32, n)
	next := make([]int32, n+2) // by generation, of which none is above n
	for i := range int32(n) {
		next[f.level(i)+1]++
	}
	for level := 1; level < len(next); level++ {
		next[level] += next[level-1]
	}
	for i := range int32(n) {
		number := &next[f.level(i)]
		f.place[*number], f.number[i] = i, *number
		*number++
	}
}

// agrees reports whether the file says of its newest and its oldest commit what they say themselves. A file that a
// rewritten or another history left behind does not.
func (f *file) agrees(r Reader) bool {
	if f.count() == 0 {
		return true
	}
	for _, n := range []int32{f.count() - 1, 0} {
		c, err := ReadCommit(r, f.hash(n))
		if err != nil || c.Tree != f.tree(n) {
			return false
		}
		var parents []plumbing.Hash
		for _, p := range f.parents(n, nil) {
			parents = append(parents, f.hash(p))
		}
		if !slices.Equal(parents, c.Parents) {
			return false
		}
	}
	return true
}
