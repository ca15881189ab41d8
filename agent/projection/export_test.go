package projection

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
)

// Reads says whether the file holds exactly these facts, member by member.
func Reads(path string, want []Fact) bool {
	b, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(b, fileHead) {
		return false
	}
	_, got, rest, err := cutFrame(b[len(fileHead):], nil)
	if err != nil || len(rest) > 0 || len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// DecodeBody reads b as a file, as the frames of one, and as the body of one
// frame whose checksum is right, and returns all that was found.
func DecodeBody(b []byte) *Set {
	set, _, _ := decode(b)
	frame := make([]byte, frameHead, frameHead+len(b))
	binary.LittleEndian.PutUint32(frame, uint32(len(b)))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(b, castagnoli))
	if _, facts, _, err := cutFrame(append(frame, b...), nil); err == nil {
		set.Add(facts...)
	}
	return set
}
