package search_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/internal/longtest"
	"cairn/search"
	"cairn/search/embed"
)

// whole makes an index of several segments, one of them the product of a merge,
// with notes that were removed and notes with and without a meaning.
func whole(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	x := open(t, dir)
	place := embed.Vector(strings.Repeat("\x11", 72))
	var removed []event.ID
	for n := range 6 {
		d := note(n, fmt.Sprintf("redis cache timeout %d in the file-lock of 文件锁", n))
		if n%2 == 0 {
			d.Meaning = place
		}
		if n == 1 {
			removed = append(removed, d.ID)
		}
		apply(t, x, "team", d)
	}
	if err := x.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := note(11, "a cache of its own")
	apply(t, x, "team", note(10, "another cache, of redis useEffect"), last)
	b := search.Batch{Space: "personal", Put: []search.Doc{note(12, "redis at home")}}
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	b = search.Batch{Space: "team", Mark: search.Mark{Events: 9}, Delete: append(removed, last.ID)}
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if has, err := x.HasRemoved(); err != nil || !has {
		t.Fatalf("nothing was removed (%v)", err)
	}
	closeIndex(t, x)
	if segments, _ := filepath.Glob(filepath.Join(dir, "gen-1", "*.seg")); len(segments) < 2 {
		t.Fatalf("the index has only %d segments", len(segments))
	}
	return dir
}

// says is what an index answers to all kinds of questions.
func says(t *testing.T, x *search.Index) (out []string, err error) {
	for _, q := range []string{"cache", "cach", "redis timeout", `"redis cache"`, "文件", "lokc", "home OR lock", "kind:note", "since:2000-01-01", "cache -own"} {
		r, err := x.Ask(t.Context(), search.Query{Text: q})
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s: %+v", q, r))
	}
	var ids []string
	for _, space := range []string{"team", "personal"} {
		n, err := x.Count(space)
		if err != nil {
			return nil, err
		}
		m, known, err := x.Mark(space)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(space, n, m, known))
		err = x.Meanings(space, func(id event.ID, v embed.Vector) error {
			ids = append(ids, fmt.Sprintf("%s %s %x", space, id, v))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return append(out, ids...), nil
}

// A spoiling is a way in which a file loses what was in it.
type spoiling struct {
	name   string
	change func(b []byte, at int) []byte
}

var spoilings = []spoiling{
	{"flipped", func(b []byte, at int) []byte { b[at] ^= 0xff; return b }},
	{"one bit", func(b []byte, at int) []byte { b[at] ^= 1 << (at % 8); return b }},
	{"zeroed", func(b []byte, at int) []byte { clear(b[at:min(at+16, len(b))]); return b }},
	{"set", func(b []byte, at int) []byte {
		for i := at; i < min(at+8, len(b)); i++ {
			b[i] = 0xff
		}
		return b
	}},
	{"cut off", func(b []byte, at int) []byte { return b[:at] }},
}

// Whatever byte of whatever file is damaged: the process goes on, and an index
// that was compacted and then found sound by Check answers as it did before.
// Merging must not give what is damaged a checksum that fits.
func TestDamageNeitherEndsAnythingNorIsMergedIntoWhatLooksSound(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	x := open(t, dir)
	want, err := says(t, x)
	if err != nil {
		t.Fatal(err)
	}
	closeIndex(t, x)
	files, err := filepath.Glob(filepath.Join(dir, "gen-1", "*.s??"))
	if err != nil {
		t.Fatal(err)
	}
	step := longtest.Rounds(389, 7)
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(data); at += step {
			ways := spoilings[n%len(spoilings):][:1]
			if longtest.Long() {
				ways = spoilings
			}
			for _, s := range ways {
				what := fmt.Sprintf("%s %s at %d of %d", filepath.Base(file), s.name, at, len(data))
				spoiled := s.change(slices.Clone(data), at)
				if slices.Equal(spoiled, data) {
					continue
				}
				copied := filepath.Join(t.TempDir(), "index")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(copied, "gen-1", filepath.Base(file)), string(spoiled))
				useSpoiled(t, what, copied, want)
				os.RemoveAll(copied)
			}
			n++
		}
	}
}

func useSpoiled(t *testing.T, what, dir string, want []string) {
	t.Helper()
	askDamaged(t, dir)
	opt := search.Unsynced(search.Impatient(search.Options{}))
	x, err := search.Open(dir, opt)
	if wantDamage(t, what+": open", err); err != nil {
		return
	}
	_, err = says(t, x)
	wantDamage(t, what+": ask", err)
	x.Close()
	x, err = search.Open(dir, opt)
	if wantDamage(t, what+": open", err); err != nil {
		return
	}
	defer x.Close()
	err = x.Compact(t.Context())
	wantDamage(t, what+": compact", err)
	if err == nil {
		err = x.Check(t.Context())
		wantDamage(t, what+": check", err)
	}
	if err != nil {
		return
	}
	got, err := says(t, x)
	if err != nil {
		t.Errorf("%s: it is sound, but: %v", what, err)
	} else if !slices.Equal(got, want) {
		t.Errorf("%s: it is sound, but says\n%q\nwant\n%q", what, got, want)
	}
}

// A question that meets damage must leave nothing behind that later ones, of
// other indexes, take for theirs.
func TestAQuestionThatFailsSpoilsNoOther(t *testing.T) {
	dir := whole(t)
	sound := open(t, t.TempDir())
	b := search.Batch{Space: "team"}
	for n := range 40 {
		text := "nothing of that kind"
		if n%8 == 7 {
			text = "redis cache timeout in the file-lock"
		}
		b.Put = append(b.Put, note(n, text))
	}
	applyAll(t, sound, []search.Batch{b})
	questions := []string{"redis cache", "cache", "cach redis tim", `"redis cache"`, "lokc timeout"}
	count := func(text string) int {
		r, err := sound.Ask(t.Context(), search.Query{Text: text, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return r.Total*1000 + len(r.Hits)
	}
	want := map[string]int{}
	for _, q := range questions {
		want[q] = count(q)
	}
	list := regexp.MustCompile(`\x19[\x00\x01]{6}`) // six documents, hardly with others in between
	failed := 0
	for k := 0; ; k++ {
		copied := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		more := false
		damage(t, copied, ".seg", func(b []byte) []byte {
			found := list.FindAllIndex(b, -1)
			if k >= len(found) {
				return b
			}
			at := found[k][1]
			b[at-1], more = 0x7f, true // the last is another one, which is not there
			return b
		})
		if !more {
			break
		}
		x, err := search.Open(copied, search.Impatient(search.Options{}))
		if wantDamage(t, "open", err); err != nil {
			continue
		}
		for _, q := range questions {
			if _, err := x.Ask(t.Context(), search.Query{Text: q}); err != nil {
				failed++
				var damaged *search.DamagedError
				if !errors.As(err, &damaged) {
					t.Errorf("%s: %v", q, err)
				}
				break
			}
		}
		x.Close()
		for q, want := range want {
			if got := count(q); got != want {
				t.Fatalf("after damage in list %d, %q finds %d, want %d", k, q, got, want)
			}
		}
	}
	if failed == 0 {
		t.Fatal("no question met damage: the test shows nothing")
	}
}

// Bluge takes the lengths in a snapshot at their word: such a one would have it
// ask for a terabyte, which ends the process.
func TestAHugeLengthInASnapshotEndsNothing(t *testing.T) {
	dir := whole(t)
	length := binary.AppendUvarint(nil, 1<<40)
	for at := range 24 {
		copied := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		damage(t, copied, ".snp", func(b []byte) []byte {
			copy(b[at%len(b):], length) // the shortest are some twenty bytes
			return b
		})
		_, err := search.OpenReader(copied)
		if _, ok := errors.AsType[*search.DamagedError](err); !ok {
			t.Errorf("at %d: OpenReader: %v, want a DamagedError", at, err)
		}
		_, err = search.Open(copied, search.Options{})
		if _, ok := errors.AsType[*search.DamagedError](err); !ok {
			t.Errorf("at %d: Open: %v, want a DamagedError", at, err)
		}
	}
}

// A step looks up which notes it replaces. Whatever byte is another one, under a
// checksum that fits: it is taken, or the index is called damaged, so that it is
// made anew.
func TestAStepThatMeetsDamageSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := open(t, dir)
	var docs []search.Doc
	for n := range 12 {
		docs = append(docs, note(n, fmt.Sprint("redis cache ", n)))
	}
	apply(t, x, "team", docs...)
	closeIndex(t, x)
	files, err := filepath.Glob(filepath.Join(dir, "gen-1", "*.seg"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	end := len(data) - crc32.Size
	for at := 0; at < end; at += longtest.Rounds(11, 1) {
		spoiled := slices.Clone(data)
		spoiled[at] ^= 0xff
		binary.BigEndian.PutUint32(spoiled[end:], crc32.ChecksumIEEE(spoiled[:end]))
		writeFile(t, files[0], string(spoiled))
		copied := filepath.Join(t.TempDir(), "index")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		x, err := search.Open(copied, search.Unsynced(search.Impatient(search.Options{})))
		if wantDamage(t, "open", err); err != nil {
			continue
		}
		err = x.Apply(t.Context(), search.Batch{Space: "team", Put: docs[3:9], Delete: []event.ID{docs[0].ID, docs[11].ID}})
		if wantDamage(t, fmt.Sprintf("apply with another byte at %d of %d", at, end), err); err != nil {
			refused++
		}
		x.Close()
		os.RemoveAll(copied)
	}
	if refused == 0 {
		t.Fatal("no step met damage: the test shows nothing")
	}
}

// A checksum that fits says nothing: whoever can write to a file can write that
// too. Then an answer may be another one, but the process goes on, and what is met
// is damage.
func TestDamageUnderAChecksumThatFitsEndsNothing(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	files, err := filepath.Glob(filepath.Join(dir, "gen-1", "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(data)-crc32.Size; at += longtest.Rounds(197, 5) {
			s := spoilings[at%(len(spoilings)-1)] // but for cutting off, which moves the checksum
			spoiled := s.change(slices.Clone(data), at)
			end := len(spoiled) - crc32.Size
			binary.BigEndian.PutUint32(spoiled[end:], crc32.ChecksumIEEE(spoiled[:end]))
			copied := filepath.Join(t.TempDir(), "index")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(copied, "gen-1", filepath.Base(file)), string(spoiled))
			if meetsDamage(t, fmt.Sprintf("%s %s at %d of %d", filepath.Base(file), s.name, at, len(data)), copied) {
				met++
			}
			os.RemoveAll(copied)
		}
	}
	if met == 0 {
		t.Fatal("no damage was met: the test shows nothing")
	}
}

// meetsDamage asks, adds to and merges an index until it says that it is damaged.
func meetsDamage(t *testing.T, what, dir string) bool {
	t.Helper()
	x, err := search.Open(dir, search.Unsynced(search.Impatient(search.Options{})))
	if wantDamage(t, what+": open", err); err != nil {
		return true
	}
	defer x.Close()
	ask := func() error { _, err := says(t, x); return err }
	step := func() error {
		return x.Apply(t.Context(), search.Batch{Space: "team", Put: []search.Doc{note(0, "redis again"), note(10, "a lock")}})
	}
	for _, use := range []func() error{ask, step, step, func() error { return x.Compact(t.Context()) }, ask} {
		err := use()
		if wantDamage(t, what, err); err != nil {
			return true
		}
	}
	return false
}
