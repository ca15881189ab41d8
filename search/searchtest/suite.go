package searchtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cairn/internal/event"
	"cairn/search"
)

// A Searcher is what is tested.
type Searcher interface {
	Ask(context.Context, search.Query) (search.Result, error)
	Mark(space string) (search.Mark, bool, error)
	Count(space string) (int, error)
	IDs(space string, fn func(event.ID) error) error
}

// A Maker makes a Searcher that holds the notes of some batches, in order. It
// cleans up by t.Cleanup.
type Maker func(t *testing.T, batches []search.Batch) Searcher

// Run runs the suite.
func Run(t *testing.T, make Maker) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, Maker)
	}{
		{"words", testWords},
		{"order", testOrder},
		{"fields", testFields},
		{"nothing", testNothing},
		{"any text", testAnyText},
		{"long note", testLongNote},
		{"filters", testFilters},
		{"filters in the text", testTypedFilters},
		{"lists", testLists},
		{"no filters", testNoFilters},
		{"keep", testKeep},
		{"limit and total", testLimit},
		{"matched words", testMatched},
		{"phrase or its words", testPhrase},
		{"misspelled words", testMisspelled},
		{"why nothing", testWhyNothing},
		{"strange questions", testStrange},
		{"short words of strange questions", testSlight},
		{"quotes in strange questions", testStrangeQuotes},
		{"turns of phrase without spaces", testTurns},
		{"numbers", testNumbers},
		{"articles", testArticles},
		{"updates", testUpdates},
		{"spaces", testSpaces},
		{"canceled", testCanceled},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, make) })
	}
}

// start is the time of note 0; each note is a second later.
var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func timeOf(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// idOf is the id of note n; ids sort by n.
func idOf(n int) event.ID { return event.ID(fmt.Sprintf("01%024d", n)) }

// notes are notes of the given texts, numbered from 0.
func notes(texts ...string) []search.Batch {
	b := search.Batch{Space: "team"}
	for n, text := range texts {
		b.Put = append(b.Put, search.Doc{ID: idOf(n), Body: text, Recorded: timeOf(n)})
	}
	return []search.Batch{b}
}

func ask(t *testing.T, s Searcher, q search.Query) search.Result {
	t.Helper()
	r, err := s.Ask(t.Context(), q)
	if err != nil {
		t.Fatalf("ask %.200q: %v", q.Text, err)
	}
	return r
}

// numbers are the numbers of the notes that were found, in order.
func numbers(r search.Result) []int {
	out := []int{}
	for _, h := range r.Hits {
		var n int
		fmt.Sscanf(string(h.ID), "01%d", &n)
		out = append(out, n)
	}
	return out
}

func wantFound(t *testing.T, s Searcher, q search.Query, want ...int) {
	t.Helper()
	if got := numbers(ask(t, s, q)); !slices.Equal(got, append([]int{}, want...)) {
		t.Errorf("ask %.200q finds %v, want %v", q.Text, got, want)
	}
}

func text(s string) search.Query { return search.Query{Text: s} }

func testWords(t *testing.T, make Maker) {
	s := make(t, notes(
		"We chose Postgres for billing",                  // 0
		"fastapi-users hangs when the session is shared", // 1
		"file-locking is broken on Windows",              // 2
		"the FileLock class",                             // 3
		"use file_lock here",                             // 4
		"我们决定用Redis做会话缓存",                                // 5
		"修复锁的问题",                                         // 6
		"ファイルロックの解除",                                     // 7
		"서버에서 캐시가 깨짐",                                    // 8
		"the cafe\u0301 incident",                        // 9
		"Größe falsch",                                   // 10
		"Ошибка блокировки файла",                        // 11
		"खोज सूचकांक रात में",                            // 12
		"modern C++ rules",                               // 13
		"see internal/store/repo.go",                     // 14
		"fixed in v1.26.8",                               // 15
		"error: timeout while dialing",                   // 16
		"การเชื่อมต่อขัดข้องเมื่อคืน", // 17
		"وجدنا خطأ في الملف أمس",      // 18
	))
	for q, want := range map[string][]int{
		"which database did we choose for the billing service and why": {0},
		"choosing":             {0},
		"fast":                 {1},
		"fastapi-us":           {1},
		"fastapi-u":            {1},
		"1.26":                 {15},
		"k*":                   {},
		"p*":                   {0},
		"file lock":            {4, 2, 3},
		"filelock":             {4, 3, 2},
		"file-lock":            {4, 2, 3},
		"file_lock":            {4, 2, 3},
		"FileLock":             {4, 2, 3},
		"file-locking":         {2, 4, 3},
		"lock file":            {4, 2, 3},
		"锁的":                   {6},
		"修":                    {6},
		"ขัดข้อง":              {17},
		"خطأ":                  {18},
		"缓存":                   {5},
		"会话":                   {5},
		"决定":                   {5},
		"锁":                    {6},
		"ファイルロック":              {7},
		"캐시":                   {8},
		"cafe":                 {9},
		"café":                 {9},
		"CAFE\u0301":           {9},
		"grosse":               {10},
		"блокировки":           {11},
		"सूचकांक":              {12},
		"c++":                  {13},
		"C++ (x)":              {13},
		"repo.go":              {14},
		"1.26.8":               {15},
		"error: timeout":       {16},
		"error: timeout wat":   {16},
		"billing NOT postgres": {},
		"cafe OR billing":      {0, 9},
		"title:cafe":           {},
	} {
		wantFound(t, s, text(q), want...)
	}
}

func testOrder(t *testing.T, make Maker) {
	s := make(t, notes(
		"alpha here",           // 0
		"alpha beta here",      // 1
		"alpha beta gamma",     // 2
		"something else",       // 3
		"delta",                // 4
		"delta",                // 5
		"delta",                // 6
		"the deltaic plain of", // 7
	))
	wantFound(t, s, text("alpha beta gamma"), 2, 1, 0)
	wantFound(t, s, text("alpha beta gamma zeta"), 2, 1, 0)
	wantFound(t, s, text("delta"), 6, 5, 4, 7)
}

func testFields(t *testing.T, make Maker) {
	b := search.Batch{Space: "team", Put: []search.Doc{
		{ID: idOf(0), Title: "axles and wheels", Tags: []string{"my-app-v2"}, Body: "a text"},
		{ID: idOf(1), Title: "income", Body: "taxes on axles", Tags: []string{"money"}},
		{ID: idOf(2), Title: "my app", Body: "axles"},
	}}
	s := make(t, []search.Batch{b})
	wantFound(t, s, text("title:axles"), 0)
	wantFound(t, s, text("title:axl"), 0)
	wantFound(t, s, text("taxe OR title:axle"), 1, 0) // which look alike inside
	wantFound(t, s, text("Title:AXLES"), 0)
	wantFound(t, s, text("axles -title:wheels"), 2, 1)
	wantFound(t, s, text(`title:"my app"`), 2)
	wantFound(t, s, text("axles NOT tag:money"), 0, 2)
}

func testNothing(t *testing.T, make Maker) {
	b := notes("a note about billing", "laptop stand")
	for i := range b[0].Put {
		d := &b[0].Put[i]
		d.Kind, d.Harness, d.Device, d.Actor, d.Project = "observe", "claude-code", "macbook7", "ana", "my-app-v2"
	}
	s := make(t, b)
	for _, q := range []string{"observe", "claude-code", "macbook7", "ana", "my-app-v2", "team", "zookeeper", "laptop-7f3a", "区块链", "unknown words only"} {
		if r := ask(t, s, text(q)); len(r.Hits) > 0 || r.Note != "" {
			t.Errorf("ask %q finds %v (%s), want nothing", q, numbers(r), r.Note)
		}
	}
	for _, q := range []string{"", "*", " \t", "!?", "\"\"", "()"} {
		if r := ask(t, s, text(q)); len(r.Hits) > 0 || !strings.Contains(r.Note, "log") {
			t.Errorf("ask %q finds %v with note %q, want nothing and a note that names log", q, numbers(r), r.Note)
		}
	}
}

func testAnyText(t *testing.T, make Maker) {
	s := make(t, notes("foo bar baz", "C++ and https://example.com/a?b=c"))
	for _, q := range []string{
		"foo(bar, baz)", "C++ (x)", "https://example.com/a?b=c", "foo-bar", `a"b`, `"`, `""`, `"foo`, "NOT", "NOT NOT", "AND", "OR foo", "foo AND",
		"(", ")", "((foo)", "foo)", "title:", "tag:*", "*foo*", "foo:bar", "-foo", "+foo", "\x00", "\xff\xfe", "foo\xffbar", "\u200b", "👩‍💻",
		strings.Repeat("!@#$%^&*()_+-=[]{}|;':\",./<>?`~", 350), strings.Repeat("foo ", 5000), strings.Repeat("(", 10_000), strings.Repeat(`"`, 10_000),
		strings.Repeat("NOT ", 2500), strings.Repeat("字", 4000), strings.Repeat("x", 20_000),
	} {
		ask(t, s, text(q))
		ask(t, s, search.Query{Text: q, Prefix: true})
	}
	wantFound(t, s, text("foo(bar, baz)"), 0)
	wantFound(t, s, text("https://example.com/a?b=c"), 1)
}

func testLongNote(t *testing.T, make Maker) {
	half := strings.Repeat("the quick brown fox jumps over the lazy dog.\n", 10_000)
	s := make(t, notes("short", "abcdfirst line\n"+half+"midwayword 中途\n"+half+"zyxwvunique 终点词"))
	wantFound(t, s, text("abcdfirst"), 1)
	wantFound(t, s, text("midwayword"), 1)
	wantFound(t, s, text("中途"), 1)
	wantFound(t, s, text("zyxwvunique"), 1)
	wantFound(t, s, text("zyxw"), 1)
	wantFound(t, s, text("终点词"), 1)
	wantFound(t, s, text(`"dog zyxwvunique"`), 1)
}

func testFilters(t *testing.T, make Maker) {
	b := notes("redis one", "redis two", "redis three")
	for i, kind := range []string{"observe", "lesson", "observe"} {
		d := &b[0].Put[i]
		d.Kind = kind
		d.Tags = []string{fmt.Sprint("my-tag-", i%2), fmt.Sprint("My-Tag-", i%2)}
		d.Harness, d.Device, d.Actor, d.Project = fmt.Sprint("h", i), fmt.Sprint("d", i), fmt.Sprint("a", i), fmt.Sprint("my-app-v", i)
	}
	s := make(t, b)
	for _, tt := range []struct {
		filter search.Filter
		want   []int
	}{
		{search.Filter{}, []int{2, 1, 0}},
		{search.Filter{Kind: "observe"}, []int{2, 0}},
		{search.Filter{Tags: []string{"my-tag-0"}}, []int{2, 0}},
		{search.Filter{Tags: []string{"my"}}, nil},
		{search.Filter{Tags: []string{"", "my-tag-0", ""}}, []int{2, 0}},
		{search.Filter{Tags: []string{"my-tag-0", "my-tag-1"}}, nil},
		{search.Filter{Harness: "h1"}, []int{1}},
		{search.Filter{Harness: "H1", Tags: []string{"MY-Tag-1"}, Kind: "Lesson"}, []int{1}},
		{search.Filter{Device: "d2"}, []int{2}},
		{search.Filter{Actor: "a0"}, []int{0}},
		{search.Filter{Project: "my-app-v2"}, []int{2}},
		{search.Filter{Project: "my-app-v2", Kind: "lesson"}, nil},
		{search.Filter{Since: timeOf(1)}, []int{2, 1}},
		{search.Filter{Until: timeOf(1)}, []int{0}},
		{search.Filter{Since: timeOf(1), Until: timeOf(2)}, []int{1}},
		{search.Filter{Since: timeOf(1).Add(time.Nanosecond)}, []int{2}},
	} {
		wantFound(t, s, search.Query{Text: "redis", Filter: tt.filter}, tt.want...)
		wantFound(t, s, search.Query{Text: `"redis" OR nothing`, Filter: tt.filter}, tt.want...)
	}
}

// filtered are notes that differ in what filters look at.
func filtered() []search.Batch {
	b := notes("redis one", "redis two", "redis three", "memcached four")
	for i, d := range []search.Doc{
		{Kind: "observe", Tags: []string{"cache", "Go"}, Harness: "codex", Device: "laptop", Project: "my-app-v2"},
		{Kind: "lesson", Tags: []string{"cache"}, Harness: "Codex", Device: "desktop", Project: "my-app"},
		{Kind: "skill_edit", Tags: []string{"go", "c++"}, Harness: "claude-code", Device: "laptop", Project: "my app"},
		{Kind: "observe", Tags: []string{"why?"}},
	} {
		to := &b[0].Put[i]
		to.Kind, to.Tags, to.Harness, to.Device, to.Project = d.Kind, d.Tags, d.Harness, d.Device, d.Project
	}
	return b
}

func testTypedFilters(t *testing.T, make Maker) {
	s := make(t, filtered())
	for q, want := range map[string][]int{
		"redis kind:observe":                     {0},
		"redis Kind:NOTE":                        {0},
		"redis kind:skill-edit":                  {2},
		"tag:cache redis":                        {1, 0},
		"TAG:Cache redis":                        {1, 0},
		"redis tag:cache tag:go":                 {0},
		"redis tag:ca":                           {},
		"redis tag:c++":                          {2},
		"harness:codex redis":                    {1, 0},
		"harness:CODEX redis one":                {0, 1},
		"redis device:laptop":                    {2, 0},
		"redis device:DESKTO":                    {1},
		"redis device:deskt":                     {},
		"redis project:my-app":                   {1},
		"redis project:my-app-v2":                {0},
		`redis project:"my app"`:                 {2},
		`project:“My App” redis`:                 {2},
		"redis project:my":                       {},
		"redis NOT tag:cache":                    {2},
		"redis -tag:cache":                       {2},
		`redis -project:"my app"`:                {1, 0},
		"-tag:cache redis":                       {2},
		"redi kind:lesson":                       {1},
		`"redis two" kind:lesson`:                {1},
		`"redis two" kind:observe`:               {},
		"redis AND two kind:lesson":              {1},
		"(tag:go OR kind:lesson) redis":          {2, 1, 0},
		"redis NOT (tag:go OR kind:pref)":        {1},
		"memcached OR redis kind:lesson":         {3, 1},
		"memcached OR (redis project:my-app)":    {3, 1},
		"redis since:2026-03-01T09:00:01Z":       {2, 1},
		"redis until:2026-03-01T09:00:01Z":       {0},
		"redis since:2026 until:2027-01":         {2, 1, 0},
		"redis since:0h":                         {},
		"redis since:9000d":                      {2, 1, 0},
		"redis tag:go?":                          {2, 0},
		`memcached tag:"why?"`:                   {3},
		"redis kind: tag: project:\"\" device:*": {2, 1, 0},
	} {
		wantFound(t, s, text(q), want...)
	}
	both := search.Query{Text: "redis tag:cache", Filter: search.Filter{Project: "my-app"}}
	wantFound(t, s, both, 1)
	r := ask(t, s, text("redis tag:nosuch"))
	if len(r.Hits) > 0 || !strings.Contains(r.Note, "no note has tag:nosuch") {
		t.Errorf("a tag that no note has finds %v with note %q", numbers(r), r.Note)
	}
}

func testLists(t *testing.T, make Maker) {
	s := make(t, filtered())
	for q, want := range map[string][]int{
		"tag:cache":                     {1, 0},
		"tag:go kind:note":              {0},
		"* tag:go":                      {2, 0},
		"NOT tag:cache":                 {3, 2},
		"-tag:cache -kind:observe":      {2},
		"tag:c++ OR kind:lesson":        {2, 1},
		"NOT (tag:c++ OR kind:lesson)":  {3, 0},
		"kind:lesson OR NOT tag:cache":  {3, 2, 1},
		"since:2026-03-01":              {3, 2, 1, 0},
		"until:2026-03-01T09:00:02Z":    {1, 0},
		"project:my-app-v2 tag:nothing": {},
	} {
		wantFound(t, s, text(q), want...)
		if r := ask(t, s, text(q)); r.Total != len(want) {
			t.Errorf("ask %q has a total of %d, want %d", q, r.Total, len(want))
		}
	}
	wantFound(t, s, text("one OR until:2026-03-01T09:00:00.500Z"), 0)
	wantFound(t, s, search.Query{Text: "since:2026", Limit: 2}, 3, 2)
	even := func(id event.ID) bool { return id[len(id)-1]%2 == 0 }
	wantFound(t, s, search.Query{Text: "since:2026", Limit: 1, Keep: even}, 2)
	wantFound(t, s, search.Query{Text: "tag:cache", Spaces: []string{"elsewhere"}})
	wantFound(t, s, search.Query{Text: "tag:cache", Filter: search.Filter{Kind: "lesson"}}, 1)
}

// What stands before a colon is text unless it names a filter that asks for
// something.
func testNoFilters(t *testing.T, make Maker) {
	s := make(t, notes("error: timeout while dialing", "see http://example.com/a", "use std::vector here", "Device::new panics", "since:yesterday nothing", "kind words"))
	for q, want := range map[string][]int{
		"error: timeout":       {0},
		"error:timeout":        {0},
		"http://example.com/a": {1},
		"std::vector":          {2},
		"Device::new":          {3},
		"kind: words":          {5},
		`"kind words"`:         {5},
		"since:yesterday":      {4},
	} {
		wantFound(t, s, text(q), want...)
	}
	long := strings.Repeat("字", 5000)
	if r := ask(t, s, text("tag:"+long+" since:"+long)); len(r.Note) > 500 || !utf8.ValidString(r.Note) {
		t.Errorf("a note repeats what was typed in %d bytes: %.100s", len(r.Note), r.Note)
	}
	if r := ask(t, s, text("since:yesterday")); !strings.Contains(r.Note, "since:yesterday names no time") {
		t.Errorf("a time that is none is taken for text with note %q", r.Note)
	}
}

func testKeep(t *testing.T, make Maker) {
	var texts []string
	for n := range 300 {
		texts = append(texts, fmt.Sprint("cache note ", n))
	}
	s := make(t, notes(texts...))
	var asked []event.ID
	r := ask(t, s, search.Query{Text: "cache", Limit: 5, Keep: func(id event.ID) bool {
		asked = append(asked, id)
		return strings.HasSuffix(string(id), "0")
	}})
	if got := numbers(r); !slices.Equal(got, []int{290, 280, 270, 260, 250}) {
		t.Errorf("kept hits are %v", got)
	}
	if len(asked) > 100 {
		t.Errorf("Keep was asked %d times for 5 hits of 300", len(asked))
	}
	if sorted := slices.Clone(asked); !slices.IsSortedFunc(sorted, func(a, b event.ID) int { return strings.Compare(string(b), string(a)) }) {
		t.Errorf("Keep was not asked best first: %v", asked)
	}
	slices.Sort(asked)
	if n := len(slices.Compact(asked)); n != len(asked) {
		t.Errorf("Keep was asked %d times for %d notes", len(asked), n)
	}
	r = ask(t, s, search.Query{Text: "cache", Keep: func(event.ID) bool { return false }})
	if len(r.Hits) > 0 {
		t.Errorf("hits that are not kept: %v", numbers(r))
	}
}

func testLimit(t *testing.T, make Maker) {
	var texts []string
	for n := range 50 {
		texts = append(texts, fmt.Sprint("cache note ", n))
	}
	s := make(t, notes(texts...))
	for limit, want := range map[int]int{0: search.DefaultLimit, 1: 1, 30: 30, 50: 50, 1000: 50, 1 << 30: 50, -1: search.DefaultLimit} {
		r := ask(t, s, search.Query{Text: "cache", Limit: limit})
		if len(r.Hits) != want || r.Total != 50 {
			t.Errorf("limit %d gives %d hits of %d, want %d of 50", limit, len(r.Hits), r.Total, want)
		}
	}
}

func testMatched(t *testing.T, make Maker) {
	s := make(t, notes("We chose Postgres for Billing"))
	r := ask(t, s, text("Choose billing database"))
	if len(r.Hits) != 1 || !slices.Equal(r.Hits[0].Matched, []string{"Choose", "billing"}) || r.Hits[0].Space != "team" || r.Hits[0].Score <= 0 {
		t.Errorf("hits are %+v", r.Hits)
	}
}

func testPhrase(t *testing.T, make Maker) {
	s := make(t, notes("the four seasons by vivaldi", "seasons of the four winds", "take the file-lock first", "the lock of the file"))
	wantFound(t, s, text(`"four seasons"`), 0)
	wantFound(t, s, text(`"file lock"`), 2)
	wantFound(t, s, text(`"of the"`), 3, 1)
	wantFound(t, s, text(`"four winters"`))
	wantFound(t, s, text(`"four seasons" vivaldi`), 0)
	// In a question the phrase may be a title that no note holds as it is.
	r := ask(t, s, text(`who wrote "Four Winds" of vivaldi`))
	if len(r.Hits) == 0 || r.Note == "" {
		t.Errorf("a question with a phrase that is nowhere finds %v with note %q, want its words and a note", numbers(r), r.Note)
	}
}

// A word that no note holds is taken for one that is spelled nearly the same,
// and the note says which.
func testMisspelled(t *testing.T, make Maker) {
	s := make(t, notes("Kubernetes drains the node", "the databases are backed up", "我们用缓存加速", "a cousin twice removed", "the batch is late",
		"kettle mettle nettle settle beetle", "one pipeline runer"))
	for q, want := range map[string]struct {
		found []int
		says  string
	}{
		"kuberntes":                         {[]int{0}, `no note holds "kuberntes"; looked for "kubernetes"`}, // a letter missing
		"kuberneetes":                       {[]int{0}, `looked for "kubernetes"`},                            // one too many
		"kubernetas":                        {[]int{0}, `looked for "kubernetes"`},                            // another one
		"kubenretes":                        {[]int{0}, `looked for "kubernetes"`},                            // two the wrong way round
		"jubernetes":                        {[]int{0}, `looked for "kubernetes"`},                            // the first
		"bettle":                            {[]int{5}, `no note holds "bettle"; looked for "beetle"`},        // not the first few with another letter
		"node drains kuberntes kuberntes/x": {[]int{0}, `no note holds "kuberntes"; looked for "kubernetes"`}, // twice
		"KUBERNTES drains":                  {[]int{0}, `no note holds "kuberntes"; looked for "kubernetes"`},
		"databses":                          {[]int{1}, `looked for "databases"`},
		"databss backed":                    {[]int{1}, `looked for "databases"`}, // its stem
		"kuberntes AND node":                {[]int{0}, `looked for "kubernetes"`},
		"kuberntes OR cousin":               {[]int{3, 0}, `looked for "kubernetes"`},
		"kubernetes":                        {[]int{0}, ""},
		"kubern":                            {[]int{0}, ""}, // its beginning
		"cousin NOT kuberntes":              {[]int{3}, ""}, // nothing is looked for
		"kxbernxtes":                        {nil, ""},      // two slips
		"catch":                             {nil, ""},      // the first letter of a short word
		`"kuberntes"`:                       {nil, ""},
		"缓存存":                               {[]int{2}, ""},
		"kuberntes title:cousin":            {nil, ""},
		"drainsKuberntes":                   {[]int{0}, `looked for "kubernetes"`},
		"kubeflowPipelineRunner":            {nil, ""}, // more of the name is unknown than one part
		"kuberntesDatabses":                 {nil, ""},
		"kuberntesDatab*":                   {nil, ""}, // each in another note
		"kuberntesDrain*":                   {[]int{0}, `looked for "kubernetes"`},
	} {
		r := ask(t, s, text(q))
		if got := numbers(r); !slices.Equal(got, append([]int{}, want.found...)) {
			t.Errorf("ask %q finds %v, want %v", q, got, want.found)
		}
		if strings.Count(r.Note, "looked for") > 1 {
			t.Errorf("ask %q says the same twice: %q", q, r.Note)
		}
		if said := r.Note; !strings.Contains(said, want.says) || want.says == "" && strings.Contains(said, "looked for") {
			t.Errorf("ask %q says %q, want %q", q, said, want.says)
		}
	}
}

// An empty answer says so when less would have found something, and only of
// notes that may be found.
func testWhyNothing(t *testing.T, make Maker) {
	s := make(t, filtered())
	for q, says := range map[string]string{
		"redis AND memcached":           "without quotes and operators",
		`"one redis"`:                   "without quotes and operators",
		"redis NOT redis":               "without quotes and operators",
		"title:redis":                   "without quotes and operators",
		"memcached tag:cache":           "without the filters",
		"memcached NOT since:2026":      "without the filters",
		`"redis one" tag:c++`:           "without the filters",
		"redis tag:nosuch project:none": "no note has tag:nosuch; no note has project:none",
		"tag:nosuch":                    "no note has tag:nosuch",
		"zebra AND yak":                 "",
		"zebra tag:cache":               "",
		"tag:cache kind:pref tag:c++":   "no note has kind:pref",
	} {
		r := ask(t, s, text(q))
		if len(r.Hits) > 0 || says == "" && r.Note != "" || !strings.Contains(r.Note, says) {
			t.Errorf("ask %q finds %v and says %q, want nothing and %q", q, numbers(r), r.Note, says)
		}
		wantNothingKept(t, s, q)
	}
	wantNothingKept(t, s, `redis "one memcached"`)
}

// wantNothingKept asks of notes that must not be found: nothing tells of them,
// and of each is asked once whether it is kept.
func wantNothingKept(t *testing.T, s Searcher, q string) {
	t.Helper()
	asked := map[event.ID]int{}
	r := ask(t, s, search.Query{Text: q, Keep: func(id event.ID) bool { asked[id]++; return false }})
	if len(r.Hits) > 0 || strings.Contains(r.Note, "some") {
		t.Errorf("ask %q of notes that must not be found finds %v and says %q", q, numbers(r), r.Note)
	}
	for id, times := range asked {
		if times > 1 {
			t.Errorf("ask %q asks %d times whether %s is kept", q, times, id)
		}
	}
}

// policyNotes are two notes with a word of their own, and policies, of which
// there are many.
var (
	policyNotes = append([]string{"lefthook formats staged files", "harbor visited at night"}, slices.Repeat([]string{"retry policy"}, 8)...)
	policies    = []int{9, 8, 7, 6, 5, 4, 3, 2}
)

// A note that shares one word with a question mostly about what nobody wrote is
// no answer, unless the word says enough.
func testStrange(t *testing.T, make Maker) {
	s := make(t, notes(policyNotes...))
	for q, want := range map[string]struct {
		found []int
		says  string
	}{
		"vacation policy":                                        {nil, `no note holds "vacation"; without that some fit`},
		"policy vacation":                                        {nil, `no note holds "vacation"`},
		"retry policy vacation":                                  {policies, ""},                                           // two words of three
		"zeppelin retry policy barometer":                        {policies, ""},                                           // two words of four
		"policy lefthook zeppelin":                               {nil, `no note holds "zeppelin"; without that some fit`}, // no note holds two
		"policy lefthook harbor zeppelin":                        {nil, `no note holds "zeppelin"`},
		"policy lefthook harbor visited zeppelin":                {append([]int{1, 0}, policies...), ""}, // more words than are few
		"policy lefthook staged zeppelin":                        {append([]int{0}, policies...), ""},    // one does, so all may be meant
		"when was policy at the lefthook zeppelin":               {append([]int{0}, policies...), ""},
		"policy of the lefthook zeppelin":                        {append([]int{0}, policies...), ""}, // a sentence too
		"lefthook zeppelin":                                      {[]int{0}, ""},                      // rare, and half of it
		"lefthook zeppelin barometer":                            {nil, `no note holds "zeppelin", "barometer"`},
		"lefthook staged zeppelin barometer":                     {[]int{0}, ""},
		"lefthook policy zeppelin barometer":                     {nil, `no note holds "zeppelin", "barometer"`},
		"lefthok zeppelin":                                       {nil, ""}, // merely similar
		"what is the vacation policy":                            {policies, ""},
		"which barometer has a vacation rule":                    {nil, ""},
		"which zeppelin has a vacation policy":                   {nil, `no note holds "zeppelin", "vacation"`},
		"which zeppelin has a vacation Policy":                   {policies, ""}, // it is called by name
		"which zeppelin visited the barometer":                   {[]int{1}, ""}, // rare
		"lefthook zeppelin barometer xylophone trombone gondola": {[]int{0}, ""},
		"policy zeppelin barometer xylophone trombone gondola":   {nil, "no note holds"},
		"zeppelin barometer":                                     {nil, ""},
		"lefthook since:tomorrow":                                {[]int{0}, ""}, // a name is one word, however many parts it has
		"lefthook zeppelin/barometer/xylophone/trombone":         {[]int{0}, ""},
		"lefthook zeppelin/barometer/xylophone/retry":            {[]int{0}, ""}, // and even if a note holds one of them
		"lefthook zeppelin/barometer/harbor/retry":               {[]int{0}, ""},
		"policy zeppelin/barometer":                              {nil, `no note holds "zeppelin/barometer"`},
	} {
		r := ask(t, s, search.Query{Text: q, Limit: 20})
		if got := numbers(r); !slices.Equal(got, append([]int{}, want.found...)) {
			t.Errorf("ask %q finds %v, want %v", q, got, want.found)
		}
		if !strings.Contains(r.Note, want.says) || want.says == "" && strings.Contains(r.Note, "without that") {
			t.Errorf("ask %q says %q, want %q", q, r.Note, want.says)
		}
		wantNothingKept(t, s, q)
	}
}

// A single letter or digit that no note holds, and the end of a name that is
// still being typed, make no question strange: it finds what it would without.
func testSlight(t *testing.T, make Maker) {
	s := make(t, notes(policyNotes...))
	for q, want := range map[string][]int{
		"policy v":           policies,
		"policy 9":           policies,
		"9 policy":           policies,
		"which policy has 9": policies,
		"policy v 9":         policies,
		"vacation policy v":  nil,
		"zeppelin 9":         nil,
		"policy 9.4.1":       nil,
		"policy vacation-v":  nil,
	} {
		for _, typing := range []bool{false, true} {
			if typing && strings.HasSuffix(q, "9.4.1") {
				continue // it may go on
			}
			wantFound(t, s, search.Query{Text: q, Prefix: typing, Limit: 20}, want...)
		}
	}
	wantFound(t, s, search.Query{Text: "policy harbor-v", Prefix: true, Limit: 20}, policies...)
	r := ask(t, s, text("vacation policy v"))
	if want := `no note holds "vacation"; without that some fit`; r.Note != want {
		t.Errorf("it says %q, want %q", r.Note, want)
	}
}

// What makes a question of a Chinese text is cut out of it, and a character
// that is left between two turns of phrase is no answer by itself.
func testTurns(t *testing.T, make Maker) {
	s := make(t, notes("数据库连接池大小的经验值", "发言稿放在共享盘", "退款通知的处理办法"))
	for q, want := range map[string][]int{
		"连接池设多大合适":    {0},
		"发言稿应该放在哪里":   {1},
		"年终奖什么时候发":    nil,
		"发":           {1},
		"发什么":         {1}, // nothing else is left
		"退款通知收到两次怎么办": {2},
		"同一个退款通知":     {2},
	} {
		wantFound(t, s, text(q), want...)
	}
}

// A sentence stays one when its quotes are taken away.
func testStrangeQuotes(t *testing.T, make Maker) {
	s := make(t, notes(policyNotes...))
	wantFound(t, s, search.Query{Text: `which policy has a "vacation"`, Limit: 20}, policies...)
	wantFound(t, s, search.Query{Text: `policy "vacation"`, Limit: 20})
	q := `what is the "vacation policy"`
	if r := ask(t, s, text(q)); !strings.Contains(r.Note, "without quotes and operators") {
		t.Errorf("ask %q finds %v and says %q", q, numbers(r), r.Note)
	}
}

// A part of a version or an address is not the version or the address.
func testNumbers(t *testing.T, make Maker) {
	s := make(t, notes("chart 4.10.1 of the proxy", "network 10.60.0.0/16 is theirs", "take 4 of 1", "built with v1.26.8"))
	for q, want := range map[string][]int{
		"v99.4.1":   nil,
		"10.60.0.0": {1},
		"1.26":      {3},
		"1.26.8":    {3},
		"99.98.1":   nil,
	} {
		wantFound(t, s, text(q), want...)
	}
}

// The Arabic article is written as one with its word.
func testArticles(t *testing.T, make Maker) {
	s := make(t, notes("تحسب الضريبة على كل سطر", "مكون تقويم جديد"))
	wantFound(t, s, text("ضريبة"), 0)
	wantFound(t, s, text("الضريبة"), 0)
	wantFound(t, s, text("التقويم"), 1)
	wantFound(t, s, text("الجديد"), 1)
	wantFound(t, s, text("الفاتورة"))
}

func testUpdates(t *testing.T, make Maker) {
	old := notes("the former text", "goes away", "stays")
	later := search.Batch{Space: "team", Delete: []event.ID{idOf(1), idOf(77)}, Mark: search.Mark{Epoch: 1, Events: 3}}
	later.Put = []search.Doc{{ID: idOf(0), Body: "wrong"}, {ID: idOf(0), Body: "the later text"}}
	s := make(t, append(old, later))
	wantFound(t, s, text("former"))
	wantFound(t, s, text("wrong"))
	wantFound(t, s, text("later"), 0)
	wantFound(t, s, text("away"))
	wantFound(t, s, text("stays"), 2)
	if m, ok, err := s.Mark("team"); err != nil || !ok || m != later.Mark {
		t.Errorf("the mark is %+v, %v, %v; want %+v", m, ok, err, later.Mark)
	}
	wantIDs(t, s, "team", 0, 2)
}

func wantIDs(t *testing.T, s Searcher, space string, want ...int) {
	t.Helper()
	ids := []event.ID{}
	err := s.IDs(space, func(id event.ID) error {
		ids = append(ids, id)
		return nil
	})
	slices.Sort(ids)
	wanted := []event.ID{}
	for _, n := range want {
		wanted = append(wanted, idOf(n))
	}
	if err != nil || !slices.Equal(ids, wanted) {
		t.Errorf("the notes of %s are %v (%v), want %v", space, ids, err, wanted)
	}
	if n, err := s.Count(space); err != nil || n != len(want) {
		t.Errorf("%s counts %d (%v), want %d", space, n, err, len(want))
	}
}

func testSpaces(t *testing.T, make Maker) {
	one := search.Batch{Space: "personal", Put: []search.Doc{{ID: idOf(1), Title: "redis"}}, Mark: search.Mark{Events: 1}}
	two := search.Batch{Space: "team", Put: []search.Doc{{ID: idOf(2), Title: "redis"}, {ID: idOf(1), Title: "redis"}}, Mark: search.Mark{Events: 2}}
	s := make(t, []search.Batch{one, two})
	wantFound(t, s, text("redis"), 2, 1, 1)
	wantFound(t, s, search.Query{Text: "redis", Spaces: []string{"personal"}}, 1)
	wantFound(t, s, search.Query{Text: "redis", Spaces: []string{"personal", "team"}}, 2, 1, 1)
	wantFound(t, s, search.Query{Text: "redis", Spaces: []string{"per"}})
	wantIDs(t, s, "personal", 1)
	wantIDs(t, s, "team", 1, 2)
	wantIDs(t, s, "nowhere")
	if m, ok, err := s.Mark("personal"); err != nil || !ok || m.Events != 1 {
		t.Errorf("the mark of personal is %+v, %v, %v", m, ok, err)
	}
}

func testCanceled(t *testing.T, make Maker) {
	s := make(t, notes("anything"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(ctx, text("anything")); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("ask after the end of its context: %v", err)
	}
}
