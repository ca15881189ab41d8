package search

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/search/query"
)

// A small vocabulary, so that notes and questions meet, with names, other
// scripts, stop words and near misses in it.
var lawWords = strings.Fields(`lock locks locking file-lock FileLock file_lock filelock fast fastapi fastapi-users
	cache caching redis timeout timeouts timeuot deploy deployed useEffect effect use the of in and wsl wsl2 I/O io iota C++ c go gopher
	缓存 会话缓存 缓存怎么存 文件锁 锁 ファイルロック 캐시를 café cafe v1.2.3 1.2.3 error postgres postgers kubernetes kuberntes bostgres repo.go internal/store/repo.go
	what John Datensicherung восстановления zeppelin barometer k8s rollout db time out remove ` + longestWord + " " + longestWord + "b")

// longestWord has a number in a segment, if it comes often there; one that is longer
// has none. The space behind it counts.
var longestWord = strings.Repeat("b", 79)

// lawStrangers stand in no note, or only in part.
var lawStrangers = strings.Fields(`Datensicherungen восстановлением since:tomorrow gondola/xylophone/trombone gondola/xylophone/lock zeppelin-gondola cache-x x 9 9.4.1`)

func lawText(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(lawWords), 0, most).Draw(t, label), " ")
}

var lawSpaces = []string{"personal", "team"}

func lawDoc(t *rapid.T, n int) Doc {
	at := time.UnixMilli(1_750_000_000_000 + int64(n))
	return Doc{
		ID:       event.ID(fmt.Sprintf("%026d", n)),
		Title:    lawText(t, "title", 4),
		Body:     lawText(t, "body", 12),
		Tags:     strings.Fields(lawText(t, "tags", 2)),
		Kind:     rapid.SampledFrom([]string{"observe", "lesson"}).Draw(t, "kind"),
		Harness:  rapid.SampledFrom([]string{"", "codex", "Codex"}).Draw(t, "harness"),
		Device:   rapid.SampledFrom([]string{"", "laptop", "laptop-2", "lapto", "desktop"}).Draw(t, "device"),
		Project:  rapid.SampledFrom([]string{"", "my app", "my-app-v2", "my-app"}).Draw(t, "project"),
		Recorded: at,
	}
}

func lawBatch(t *rapid.T) Batch {
	b := Batch{Space: rapid.SampledFrom(lawSpaces).Draw(t, "space")}
	seen := map[int]bool{}
	for range rapid.IntRange(0, 6).Draw(t, "puts") {
		n := rapid.IntRange(0, 40).Draw(t, "id")
		if !seen[n] {
			b.Put = append(b.Put, lawDoc(t, n))
		}
		seen[n] = true
	}
	for range rapid.IntRange(0, 2).Draw(t, "deletes") {
		n := rapid.IntRange(0, 40).Draw(t, "deleted")
		if !seen[n] {
			b.Delete = append(b.Delete, event.ID(fmt.Sprintf("%026d", n)))
		}
	}
	return b
}

// lawFilters are filters as they are typed; each note is a millisecond younger
// than the one before it.
var lawFilters = []string{
	"kind:lesson", "KIND:Note", "harness:CODEX", `project:"my app"`, "project:my-app", "-project:My-App-V2", "NOT tag:lock", "tag:cache", "TAG:C++",
	"tag:lock tag:redis", "since:2025-06-15T15:06:40.011Z", "until:2025-06-15T15:06:40.029Z", "(kind:lesson OR tag:lock)", "NOT (kind:lesson OR tag:lock)",
	"(tag:redis OR NOT kind:lesson)", "device:", "project:*", "-device:x", "device:nowhere", "device:laptop", "device:LAPTO", "NOT device:deskto",
}

// lawNarrowed is a question with filters around or in it, or filters alone.
func lawNarrowed(t *rapid.T) string {
	filters := rapid.SliceOfN(rapid.SampledFrom(lawFilters), 0, 2).Draw(t, "filters")
	switch rapid.IntRange(0, 4).Draw(t, "place") {
	case 0:
		return strings.Join(append(filters, lawQuestion(t)), " ")
	case 1:
		return strings.Join(append([]string{lawQuestion(t)}, filters...), " ")
	case 2:
		return strings.Join(append([]string{lawQuestion(t)}, filters...), " OR ")
	case 3:
		return strings.Join(filters, rapid.SampledFrom([]string{" ", " OR ", " AND "}).Draw(t, "joint"))
	}
	return lawQuestion(t)
}

const titlePhrase = `title:"`

func lawQuestion(t *rapid.T) string {
	words := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(lawWords, lawStrangers)), 1, 4).Draw(t, "words")
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return `"` + strings.Join(words, " ") + `"`
	case 1:
		return strings.Join(words, " OR ")
	case 2:
		return strings.Join(words, " AND ")
	case 3:
		return words[0] + " NOT " + strings.Join(words[1:], " ")
	case 4:
		return "title:" + words[0] + " " + strings.Join(words[1:], " ")
	case 5:
		return "(" + strings.Join(words, " OR ") + `) AND NOT "` + words[0] + ` lock"`
	case 6:
		last := []rune(words[len(words)-1])
		words[len(words)-1] = string(last[:rapid.IntRange(1, len(last)).Draw(t, "cut")])
		return strings.Join(words, " ") + rapid.SampledFrom([]string{"", "*", "?"}).Draw(t, "end")
	case 7:
		return strings.Join(append(words[:min(len(words), 3)], "gondola"), " ")
	case 8:
		return titlePhrase + strings.Join(words, " ") + `"`
	}
	return strings.Join(words, " ")
}

func lawQuery(t *rapid.T) Query {
	q := Query{
		Text:   lawNarrowed(t),
		Limit:  rapid.SampledFrom([]int{1, 3, 10, 50}).Draw(t, "limit"),
		Prefix: rapid.Bool().Draw(t, "prefix"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "filter") {
	case 0:
		q.Filter.Kind = "lesson"
	case 1:
		q.Spaces = []string{rapid.SampledFrom(append(lawSpaces, "nowhere")).Draw(t, "in")}
	case 2:
		q.Filter.Since = time.UnixMilli(1_750_000_000_010)
		q.Filter.Until = time.UnixMilli(1_750_000_000_030)
	case 3:
		q.Keep = func(id event.ID) bool { return id[len(id)-1]%2 == 0 }
	case 4:
		q.Filter.Tags = rapid.SliceOfN(rapid.SampledFrom(lawWords), 1, 2).Draw(t, "tags")
	}
	return q
}

// A lawIndex opens, reopens and compacts as a run wants.
type lawIndex struct {
	dir string
	x   *Index
}

func (l *lawIndex) open(t *rapid.T) {
	x, err := Open(l.dir, Options{Trouble: func(err error) { t.Errorf("trouble: %v", err) }, FS: disktest.Unsynced(disk.OS)})
	if err != nil {
		t.Fatal(err)
	}
	l.x = x
}

func (l *lawIndex) close(t *rapid.T) {
	if err := l.x.Close(); err != nil {
		t.Fatal(err)
	}
}

func (l *lawIndex) compare(t *rapid.T, o *oracle) {
	q := lawQuery(t)
	got, err := l.x.Ask(t.Context(), q)
	if err != nil {
		t.Fatalf("ask %q: %v", q.Text, err)
	}
	want := o.ask(q)
	for i, h := range got.Hits {
		if len(h.Matched) > 0 && !strings.Contains(q.Text, titlePhrase) && !marksAny(q.Text, o.notes[noteKey(h.Space, h.ID)].doc) {
			t.Fatalf("ask %q finds %s, of which nothing is marked: %+v", q.Text, h.ID, o.notes[noteKey(h.Space, h.ID)].doc)
		}
		got.Hits[i].Matched = nil
	}
	if !slices.EqualFunc(got.Hits, want, func(a, b Hit) bool { return a.ID == b.ID && a.Space == b.Space && a.Score == b.Score }) {
		t.Fatalf("ask %q (%+v):\nfound %v\nwant  %v", q.Text, q, got.Hits, want)
	}
	if !slices.IsSortedFunc(got.Hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) }) {
		t.Fatalf("ask %q: the scores do not fall: %v", q.Text, got.Hits)
	}
	if got.Total < len(got.Hits) {
		t.Fatalf("ask %q: total %d is less than %d hits", q.Text, got.Total, len(got.Hits))
	}
}

// marksAny says that something of a note is marked; tags are searched, too.
func marksAny(text string, d Doc) bool {
	body := d.Body + "\n" + strings.Join(d.Tags, "\n")
	m := NewMarker(text, d.Title, body)
	return len(m.Title(d.Title))+len(m.Text(body)) > 0
}

// However notes came into the index, in whatever steps, updated, deleted,
// merged, reopened or rebuilt: it ranks as an exhaustive evaluation does.
func TestRankingIsThatOfAnExhaustiveEvaluation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "law")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		l, o := &lawIndex{dir: dir}, newOracle()
		l.open(t)
		defer func() { l.x.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"apply": func(t *rapid.T) {
				b := lawBatch(t)
				if err := l.x.Apply(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				o.apply(b)
			},
			"ask": func(t *rapid.T) { l.compare(t, o) },
			"drop": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					t.Skip()
				}
				space := rapid.SampledFrom(lawSpaces).Draw(t, "space")
				if err := l.x.DropSpace(t.Context(), space); err != nil {
					t.Fatal(err)
				}
				o.drop(space)
			},
			"compact": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
					t.Skip()
				}
				if err := l.x.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			"reopen": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
					t.Skip()
				}
				l.close(t)
				l.open(t)
			},
			"rebuild": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
					t.Skip()
				}
				l.close(t)
				if err := rebuild(t.Context(), home{fsys: disktest.Unsynced(disk.OS), dir: dir}, o.replay); err != nil {
					t.Fatal(err)
				}
				l.open(t)
			},
		})
	})
}

// A plan reads lists because they decide or because they score, whatever the
// query.
func TestAPlanReadsNothingForNothing(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{FS: disktest.Unsynced(disk.OS)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	all := strings.Join(lawWords, " ")
	doc := Doc{ID: event.ID(fmt.Sprintf("%026d", 1)), Title: all, Body: all}
	if err := x.Apply(t.Context(), Batch{Space: "personal", Put: []Doc{doc}}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "locks NOT title:"}).Draw(t, "start") + lawNarrowed(t)
		err := x.read(func(v *view) error {
			p, err := newPlan(narrower{view: v, now: time.Now()}, query.Parse(text), false)
			if err != nil {
				return err
			}
			decide := sourcesOf(p.either)
			for name, i := range p.index {
				if s := p.sources[i]; s.found > 0 && s.weight == 0 && !decide[i] {
					t.Errorf("ask %q reads %q for nothing", text, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// sourcesOf are the sources by which expressions decide what matches.
func sourcesOf(either []expr) map[int]bool {
	out := map[int]bool{}
	add := func(w *word) {
		for _, i := range slices.Concat(append(w.parts, w.whole)...) {
			out[i] = true
		}
	}
	for _, e := range either {
		for _, w := range e.want {
			add(w)
		}
		for _, t := range slices.Concat(e.must, e.not) {
			switch {
			case t.word != nil:
				add(t.word)
			case t.phrase != nil:
				add(&word{whole: t.phrase.sources})
			default:
				maps.Copy(out, sourcesOf(t.group))
			}
		}
	}
	return out
}

// replay puts the notes again, some of them twice and some that go again.
func (o *oracle) replay(put func(Batch) error) error {
	for _, n := range o.notes {
		stale := Doc{ID: n.id, Title: "a former text of this note"}
		gone := Doc{ID: "gone" + n.id[4:], Title: n.doc.Title}
		for _, b := range []Batch{
			{Space: n.space, Put: []Doc{stale, gone}},
			{Space: n.space, Put: []Doc{n.doc}, Delete: []event.ID{gone.ID}},
		} {
			if err := put(b); err != nil {
				return err
			}
		}
	}
	return nil
}
