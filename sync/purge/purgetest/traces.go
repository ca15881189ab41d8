package purgetest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Traces says where below dir one of the words stands, in any file as it is or
// in a zlib stream that begins anywhere in it, as the objects in git's packs do.
func Traces(t testing.TB, dir string, words ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // removed meanwhile
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		for _, w := range words {
			if at, ok := holds(b, []byte(w)); ok {
				found = append(found, fmt.Sprintf("%s holds a word at %d", path, at))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// holds says whether b, or a zlib stream in it, holds the word, and where.
func holds(b, word []byte) (at int, ok bool) {
	if at := bytes.Index(b, word); at >= 0 {
		return at, true
	}
	for i := 0; i+1 < len(b); i++ {
		// RFC 1950: method 8, and a checksum over the first two bytes.
		if b[i]&0x0f == 8 && (int(b[i])<<8|int(b[i+1]))%31 == 0 && bytes.Contains(inflate(b[i:]), word) {
			return i, true
		}
	}
	return 0, false
}

// maxInflated is how much of one stream is looked at.
const maxInflated = 4 << 20

// inflate returns what can be inflated of b; most often it is no stream.
func inflate(b []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	// A stream that is torn or none gives what it gives.
	_, _ = io.Copy(&out, io.LimitReader(r, maxInflated))
	return out.Bytes()
}

// Boot makes the lock files below dir older than the system, as they are after
// a power cut: the programs that made them are gone.
func Boot(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".lock" {
			return err
		}
		return os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0))
	})
	if err != nil {
		t.Fatal(err)
	}
}
