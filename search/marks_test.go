package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cairn/search"
)

// painted is s with brackets around what is marked.
func painted(s string, marks []search.Stretch) string {
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(s[at:m.Start] + "[" + s[m.Start:m.End] + "]")
		at = m.End
	}
	return b.String() + s[at:]
}

func TestMarksShowWhatMatched(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, body, want string }{
		// Words, inflected, in any case; what says nothing is not looked for.
		{"lock", "Locks are locking the LOCK of a clock", "[Locks] are [locking] the [LOCK] of a clock"},
		{"which database did we choose and why", "we chose the database", "we [chose] the [database]"},
		{"locking", "a lock, locked", "a [lock], [locked]"},
		{"zebra", "no such thing", "no such thing"},
		{"café", "the cafe\u0301, CAFÉ, cafe", "the [cafe\u0301], [CAFÉ], [cafe]"},
		{"grosse", "die Größe, große", "die [Größe], [große]"},
		{"timeout*", "a timeout of timeouts", "a [timeout] of [timeouts]"},
		// Names and their parts.
		{"effect", "call useEffect here", "call use[Effect] here"},
		{"file lock", "file_lock, FileLock, file-locking", "[file]_[lock], [FileLock], [file]-[locking]"},
		{"file-lock", "the filelock of a file", "the [filelock] of a [file]"},
		{"oauth2 password", "OAuth2PasswordBearer", "[OAuth2Password]Bearer"},
		{"1.26.8", "fixed in v1.26.8.", "fixed in [v1.26.8]."},
		{"1.26", "fixed in v1.26.8.", "fixed in [v1.26.8]."},
		{"wsl", "under wsl2", "under [wsl2]"},
		{"wsl mount", "under wsl2", "under [wsl]2"},
		{"C++", "C++ is not C", "[C++] is not C"},
		{"repo.go", "see internal/store/repo.go:12", "see internal/store/[repo].[go]:12"},
		{"https://example.com/a", "https://example.com/a", "[https://example.com/a]"},
		// The beginning of a word, only where the word itself is not.
		{"postg", "Postgres and postgis", "[Postgres] and [postgis]"},
		{"fastapi-us", "the fastapi-users package", "the [fastapi-users] package"},
		{"data model", "a database, no model", "a [database], no [model]"},
		{"data model", "a database of data for the model", "a database of [data] for the [model]"},
		// A misspelled word.
		{"kuberntes", "on Kubernetes", "on [Kubernetes]"},
		{"jubernetes", "on Kubernetes", "on [Kubernetes]"},
		{"bettle", "no kettle but a beetle", "no kettle but a [beetle]"},
		{"bettle", "a kettle", "a [kettle]"},
		{"table", "a cable", "a cable"},
		{"batches", "he catches batches", "he catches [batches]"},
		// Phrases.
		{`"file lock"`, "lock the file; file a lock; a file lock", "lock the file; file a lock; a [file lock]"},
		{`"file lock"`, "the file-lock", "the [file-lock]"},
		{`"of the"`, "of all of the", "of all [of the]"},
		{`who wrote "four winds"`, "winds of the four", "[winds] of the [four]"},
		// Scripts without spaces.
		{"缓存", "我们用缓存加速", "我们用[缓存]加速"},
		{"会话缓存", "会话的缓存", "[会话]的[缓存]"},
		{"锁", "文件锁和锁", "文件[锁]和[锁]"},
		{`"文件锁"`, "文件的锁，文件锁", "文件的锁，[文件锁]"},
		{"캐시를", "서버 캐시가", "서버 [캐시]가"},
		{"सूचकांक", "खोज सूचकांक रात", "खोज [सूचकांक] रात"},
		// Operators, filters.
		{"redis AND NOT cluster", "redis cluster", "[redis] cluster"},
		{"tag:redis kind:note redis", "a note, a tag of redis", "a note, a tag of [redis]"},
		{"title:redis cache", "the redis cache", "the redis [cache]"},
		{"kind:lesson", "a kind lesson", "a kind lesson"},
		{"", "anything", "anything"},
	} {
		got := painted(tt.body, search.NewMarker(tt.query, "", tt.body).Text(tt.body))
		if got != tt.want {
			t.Errorf("of %q is marked\n%s, want\n%s", tt.query, got, tt.want)
		}
	}
}

// What one part of a note tells of a word holds for the others.
func TestMarksOfATitleAndAnExcerpt(t *testing.T) {
	t.Parallel()
	m := search.NewMarker("data title:wheel", "the database of wheels", "all data of wheels")
	title, text := "the database of wheels", "data of wheels"
	if got := painted(title, m.Title(title)); got != "the database of [wheels]" {
		t.Errorf("in the title is marked %s", got)
	}
	if got := painted(text, m.Text(text)); got != "[data] of wheels" {
		t.Errorf("in the text is marked %s", got)
	}
}

func TestASnippetShowsWhatAMisspelledWordWasTakenFor(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Nothing of interest stands here. ", 40)
	if got := search.Snippet("kuberntes", "", long+"It runs on Kubernetes now. "+long, 60); !strings.Contains(got, "Kubernetes") {
		t.Errorf("the snippet is %q", got)
	}
}

// What stands in the title was not misspelled, and so nothing like it in the
// text is why the note was found.
func TestASnippetKnowsWhatTheTitleHolds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Nothing of interest stands here. ", 40)
	body := long + "The state of Kubernetes. " + long
	for query, want := range map[string]bool{
		"stage":           false,
		"stages play":     false,
		"stage zebra":     false,
		"stage kuberntes": true,
		"statr":           true,
	} {
		if got := search.Snippet(query, "the stage of a play", body, 60); strings.Contains(got, "state") != want {
			t.Errorf("the snippet for %q is %q", query, got)
		}
	}
}

func checkMarks(t interface{ Fatalf(string, ...any) }, s string, marks []search.Stretch) {
	end := -1
	for _, m := range marks {
		if m.Start <= end || m.End <= m.Start || m.End > len(s) {
			t.Fatalf("of %q is marked %v", s, marks)
		}
		if !utf8.ValidString(s[m.Start:m.End]) || !utf8.ValidString(s[:m.Start]) {
			t.Fatalf("of %q is marked %q, which is no whole characters", s, s[m.Start:m.End])
		}
		end = m.End
	}
}

// A text is marked in parts that stand in order, apart, and on the boundaries
// of characters; of one word it is marked whatever stands around it.
func TestMarksAreOrderly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("lock file-lock 缓存 ｷｬｯｼｭ useEffect café C++ v1.2 kubernetes a the")), 1, 20).Draw(t, "words")
		text := strings.Join(words, rapid.SampledFrom([]string{" ", ", ", "\n", "。"}).Draw(t, "joint"))
		query := rapid.SampledFrom(words).Draw(t, "query")
		marks := search.NewMarker(query, "", text).Text(text)
		checkMarks(t, text, marks)
		if len(marks) == 0 {
			t.Fatalf("of %q nothing is marked for %q", text, query)
		}
	})
}

func FuzzMarks(f *testing.F) {
	f.Add("lock kuberntes", "the lock", "kubernetes")
	f.Add(`"缓存" ｷｬ`, "我们用缓存", "ｷｬｯｼｭ\xff")
	f.Add("v1.2*", "e\u0301", "v1.2.3-é́")
	f.Fuzz(func(t *testing.T, query, title, body string) {
		m := search.NewMarker(query, title, body)
		checkMarks(t, title, m.Title(title))
		checkMarks(t, body, m.Text(body))
	})
}
