package teampolicy

import (
	"bytes"
	"testing"
	"time"

	"cairn/policy/versions"
)

// A file of an earlier version is read once, however many versions follow and whoever asks, and one that is missing is not
// remembered as missing.
func TestAPastFileIsReadOnce(t *testing.T) {
	t.Parallel()
	text := []byte("version: 1\nteam: acme\nadmins: [ana]\n")
	l := newLibrary(time.Now)
	h := versions.HashOf(text)
	if l.read(h, nil)() != nil {
		t.Error("what is not here says something")
	}
	first := l.read(h, text)()
	if first == nil {
		t.Fatal("it says nothing")
	}
	for range 3 {
		if l.read(h, text)() != first { // whoever reads it makes other rules of it
			t.Error("it was read again")
		}
	}
	if l.read(versions.HashOf(nil), []byte("no policy"))() != nil {
		t.Error("what is not understood says something")
	}
}

// The sum of what is kept copies it once, however many versions there were.
func TestTheSumOfWhatIsKeptGrowsWithIt(t *testing.T) {
	k := &kept{Version: []byte("version"), Files: map[versions.Hash][]byte{}}
	for i := range 300 {
		file := bytes.Repeat([]byte{byte(i)}, 100+i)
		k.Files[versions.HashOf(file)] = file
	}
	if n := testing.AllocsPerRun(1, func() { k.sum() }); n > 100 {
		t.Errorf("%v allocations for 300 files", n)
	}
}
