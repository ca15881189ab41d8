package teampolicy

import (
	"bytes"
	"testing"
	"time"

	"cairn/policy/rules"
	"cairn/policy/versions"
)

// A file of an earlier version is read once, however many versions follow and whoever asks, and one that is missing is not
// remembered as missing.
func TestAPastFileIsReadOnce(t *testing.T) {
	t.Parallel()
	text := []byte("version: 1\nteam: acme\nadmins: [ana]\n")
	l := newLibrary(time.Now)
	read := 0
	l.parse = func(b []byte) (*rules.File, error) { read++; return rules.Parse(b) }
	h := versions.HashOf(text)
	if l.read(h, nil)() != nil {
		t.Error("what is not here says something")
	}
	for range 3 {
		if l.read(h, text)() == nil {
			t.Error("it says nothing")
		}
	}
	if read != 1 {
		t.Errorf("it was read %d times", read)
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
