package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/search"
)

func TestSnippetShowsWhyANoteWasFound(t *testing.T) {
	long := strings.Repeat("Nothing of interest stands here. ", 40)
	for _, tt := range []struct {
		name, query, body, want string
		limit                   int
	}{
		{"a short text is shown whole", "lock", "take the lock first", "take the lock first", 80},
		{"no word, the beginning", "zebra", "take the lock\n\n first", "take the lock first", 80},
		{"white space is squeezed", "lock", "take\tthe \r\n lock", "take the lock", 80},
		{"the middle of a long text", "mutex", long + "The mutex is taken twice. " + long, "The mutex is taken twice.", 60},
		{"all the words together", "cache key", long + "a cache. " + long + "the cache key expired " + long, "the cache key expired", 60},
		{"an inflected form", "lock", long + "before locking the file" + long, "locking the file", 50},
		{"a part of a name", "effect", long + "call useEffect here" + long, "useEffect here", 50},
		{"an unfinished word", "postg", long + "we chose Postgres then" + long, "Postgres then", 50},
		{"a phrase", `"twice removed"`, long + "a cousin twice removed came" + long, "twice removed", 50},
		{"Chinese", "缓存", strings.Repeat("前面的文字。", 50) + "我们用缓存加速" + strings.Repeat("后面的文字。", 50), "缓存", 60},
	} {
		got := search.Snippet(tt.query, "", tt.body, tt.limit)
		if !strings.Contains(got, tt.want) || len(got) > tt.limit {
			t.Errorf("%s: Snippet is %q (%d bytes), want at most %d bytes with %q", tt.name, got, len(got), tt.limit, tt.want)
		}
	}
}

func TestSnippetMarksWhatItLeavesOut(t *testing.T) {
	long := strings.Repeat("before ", 50) + "needle" + strings.Repeat(" after", 50)
	got := search.Snippet("needle", "", long, 60)
	if !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("Snippet of the middle is %q, want an ellipsis at both ends", got)
	}
	if got := search.Snippet("needle", "", "needle alone", 60); strings.Contains(got, "…") {
		t.Errorf("Snippet of a whole text is %q, want no ellipsis", got)
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("lock", "locks", "take the lock first", 10)
	f.Add("缓存", "", "我们用缓存加速"+strings.Repeat("é", 300), 7)
	f.Add("\xff\"", "\xfe", "\xfe🚀🚀👩‍💻", 5)
	f.Add("", "", "", 0)
	f.Fuzz(func(t *testing.T, query, title, body string, limit int) {
		limit %= 1000
		got := search.Snippet(query, title, body, limit)
		if !utf8.ValidString(got) {
			t.Fatalf("Snippet(%q, %q, %q, %d) is not UTF-8: %q", query, title, body, limit, got)
		}
		if len(got) > max(limit, 0) {
			t.Fatalf("Snippet(%q, %q, %q, %d) has %d bytes: %q", query, title, body, limit, len(got), got)
		}
	})
}
