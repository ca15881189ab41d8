package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/search/analysis"
)

func forms(text string) []string {
	var out []string
	for tok := range analysis.Tokens(text) {
		out = append(out, tok.Text)
	}
	return out
}

func inText(text string) []string {
	var out []string
	for tok := range analysis.Tokens(text) {
		if tok.InText() {
			out = append(out, tok.Text)
		}
	}
	return out
}

// Each line: a text and forms under which it must be found.
func TestANameIsFoundUnderItsForms(t *testing.T) {
	for text, want := range map[string]string{
		"file-locking":            "file locking file-locking filelocking",
		"file_lock":               "file lock file_lock filelock",
		"FileLock":                "file lock filelock",
		"wi-fi":                   "wi fi wi-fi wifi",
		"useEffect":               "use effect useeffect",
		"HTTPServer":              "http server httpserver",
		"OAuth2PasswordBearer":    "oauth2 oauth password bearer oauth2passwordbearer",
		"MAX_OPEN_CONNS":          "max open conns max_open_conns maxopenconns",
		"internal/store/repo.go":  "internal store repo go internal/store/repo.go",
		`C:\Users\me\app.toml`:    `c users me app toml c:\users\me\app.toml`,
		"bob@example.com":         "bob example com bob@example.com",
		"v1.26.8":                 "v1 26 8 v1.26.8 1.26.8",
		"C++":                     "c c++",
		"c#":                      "c c#",
		".NET":                    "net .net",
		"wsl2":                    "wsl2 wsl",
		"don't":                   "dont",
		"user's":                  "user",
		"user’s":                  "user",
		"--no-verify":             "no verify no-verify noverify",
		"docs.rs/tokio":           "docs rs tokio docs.rs/tokio docsrstokio",
		"🚀":                       "🚀",
		"文件锁":                     "文 件 锁 文件 件锁",
		"锁":                       "锁",
		"ﾃﾞｽﾄ":                    "デ ス ト デス スト",
		"서버에서":                    "서 버 에 서버 버에 에서",
		"แก้":                     "แ ก แก",
		"用fastapi部署":              "用 fastapi 部 署 部署",
		"ファイルロック":                 "ファ イル ロッ ック",
		"ＡＰＩ":                     "api",
		"the ﬁle":                 "the file",
		"pass\u200bword":          "password",
		"configu\u00adration":     "configuration",
		"cafe\u0301 café CAFÉ":    "cafe",
		"Größe STRASSE Straße":    "grosse strasse",
		"Ærø Łódź İstanbul ırmak": "aero lodz istanbul irmak",
		"ОШИБКА":                  "ошибка",
		"Σφάλμας":                 "σφαλμασ",
		"खोज सूचकांक":             "खोज सूचकांक",
		"الملفُ":                  "الملف",
	} {
		got := forms(text)
		for _, form := range strings.Fields(want) {
			if !slices.Contains(got, form) {
				t.Errorf("%q is not found as %q, only as %q", text, form, got)
			}
		}
	}
}

func TestATextIsItsWordsInOrder(t *testing.T) {
	for text, want := range map[string]string{
		"Take the file-lock first.":     "take the file lock first",
		"useEffect runs twice":          "useeffect runs twice",
		"see docs/FORMAT.md: it's here": "see docs format md it here",
		"foo(bar), baz[1]":              "foo bar baz 1",
		"用Redis做缓存":                     "用 redis 做 缓 存",
		"a\"b":                          "a b",
		"end. Next":                     "end next",
		"...":                           "",
	} {
		if got := strings.Join(inText(text), " "); got != want {
			t.Errorf("the words of %q are %q, want %q", text, got, want)
		}
	}
}

func TestATokenKnowsItsBytes(t *testing.T) {
	text := "Größe: useEffect, 文件"
	for tok := range analysis.Tokens(text) {
		if got := analysis.Fold(text[tok.Start:tok.End]); !strings.Contains(got, tok.Text) {
			t.Errorf("token %q stands for %q", tok.Text, text[tok.Start:tok.End])
		}
	}
}

func TestAWordThatIsDataIsCut(t *testing.T) {
	blob := strings.Repeat("0123456789abcdef", 1000)
	for _, form := range forms(blob + " " + strings.Repeat("é", 100) + strings.Repeat("-ab", 500)) {
		if len(form) > 64 || !utf8.ValidString(form) {
			t.Fatalf("a form has %d bytes or is not UTF-8: %.80q", len(form), form)
		}
	}
	if a, b := forms(blob), forms(blob+"x"); !slices.Equal(a[:1], b[:1]) {
		t.Errorf("the same long beginning gives %.80q and %.80q", a, b)
	}
}

func TestStemJoinsInflections(t *testing.T) {
	for _, words := range []string{"lock locks locked locking", "migration migrations", "cached caching cache", "strategy strategies"} {
		fields := strings.Fields(words)
		for _, w := range fields[1:] {
			if analysis.Stem(w) != analysis.Stem(fields[0]) {
				t.Errorf("%s has the stem %s, %s has %s", w, analysis.Stem(w), fields[0], analysis.Stem(fields[0]))
			}
		}
	}
	for _, word := range []string{"go", "aws", "e0425", "naïve", "索引"} {
		if got := analysis.Stem(word); got != word {
			t.Errorf("the stem of %s is %s", word, got)
		}
	}
}

func TestStopWordsSayNothing(t *testing.T) {
	for _, w := range strings.Fields("the which did we for and why how is") {
		if !analysis.IsStop(w) {
			t.Errorf("%q is no stop word", w)
		}
	}
	for _, w := range strings.Fields("database choose billing null lock c go") {
		if analysis.IsStop(w) {
			t.Errorf("%q is a stop word", w)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"useEffect HTTPServer OAuth2", "C++ c# .NET a.b", "文件锁 ﾃﾞｽﾄ 서버에서 แก้", "don't user’s", "\xff\xfe-\x80", "👩‍💻 🚀",
		"v1.26.8", strings.Repeat("-_./:@", 50), "İıßŁ", "'''", ".", "a'", "½ ﷺ ｱﾞ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for span := range analysis.Spans(text) {
			if span.Start < end || span.End <= span.Start || text[span.Start:span.End] != span.Text {
				t.Fatalf("span %d..%d %q after byte %d", span.Start, span.End, span.Text, end)
			}
			end = span.End
			for tok := range span.Tokens() {
				checkToken(t, text, span, tok)
			}
		}
	})
}

func checkToken(t *testing.T, text string, span analysis.Span, tok analysis.Token) {
	t.Helper()
	switch {
	case tok.Text == "" || len(tok.Text) > 64:
		t.Fatalf("a token of %q has %d bytes", span.Text, len(tok.Text))
	case strings.ContainsAny(tok.Text, " \n\x00\x01\x02"):
		t.Fatalf("a token holds what separates tokens: %q", tok.Text)
	case tok.Start < span.Start || tok.End > span.End || tok.Start >= tok.End:
		t.Fatalf("token %q at %d..%d is outside its span %d..%d", tok.Text, tok.Start, tok.End, span.Start, span.End)
	case utf8.ValidString(text) && !(utf8.ValidString(text[:tok.Start]) && utf8.ValidString(text[tok.Start:tok.End])):
		t.Fatalf("token %q at %d..%d cuts a character", tok.Text, tok.Start, tok.End)
	}
}

// The square of their length would be more than anyone waits for.
func TestLongTextsOfOneKindAreNoTrouble(t *testing.T) {
	for _, unit := range []string{"'", "a'", "-", "aB", "a-", "+", ".", "e\u0301", "文", "\u200b", "ﾞ", "A", "\xff"} {
		text := strings.Repeat(unit, 1<<17/len(unit))
		n := 0
		for tok := range analysis.Tokens(text) {
			n += len(tok.Text)
		}
		if n > 16*len(text) {
			t.Errorf("a text of %q alone becomes %d bytes of tokens", unit, n)
		}
	}
}
