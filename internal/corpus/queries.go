package corpus

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Class is a way of asking.
type Class string

// The classes. How many notes hold a word is what tells the first three apart.
const (
	Rare     Class = "rare word"
	Mid      Class = "mid word"
	Common   Class = "common word"
	TwoWords Class = "two words"
	Prefix2  Class = "prefix of 2"
	Prefix3  Class = "prefix of 3"
	Prefix4  Class = "prefix of 4"
	Phrase   Class = "phrase"
	Question Class = "question of 6 words"
	Chinese  Class = "Chinese word"
)

// Classes lists them in the order in which they are reported.
func Classes() []Class {
	return []Class{Rare, Mid, Common, TwoWords, Prefix2, Prefix3, Prefix4, Phrase, Question, Chinese}
}

// A Query is a question that at least one of the notes answers.
type Query struct {
	Class Class
	Words []string // as typed, without quotes or a star
}

// Text is the query as it is typed: a phrase in quotes, a prefix with a star.
func (q Query) Text() string {
	text := strings.Join(q.Words, " ")
	switch {
	case q.Class == Phrase:
		return `"` + text + `"`
	case q.IsPrefix():
		return text + "*"
	}
	return text
}

// IsPrefix says that the word of the query is only the start of one.
func (q Query) IsPrefix() bool { return q.Class == Prefix2 || q.Class == Prefix3 || q.Class == Prefix4 }

// Queries draws n queries of a class from the notes, of which there should be
// a hundred at least. Another seed gives others. A rare word is in at most 3
// notes, or 25 of 100,000; a mid one in about 1 of 200; a common one in 3 of
// 100 or more.
func Queries(notes []Note, class Class, n int, seed uint64) []Query {
	d := drawer{r: rand.New(rand.NewPCG(seed, 2)), notes: notes}
	for at := range notes {
		if isChinese(notes[at]) {
			d.chinese = append(d.chinese, at)
		}
	}
	draw := d.of(class)
	out := make([]Query, 0, n)
	for len(out) < n {
		if words := draw(); words != nil {
			out = append(out, Query{class, words})
		}
	}
	return out
}

// A drawer draws queries.
type drawer struct {
	r       *rand.Rand
	notes   []Note
	chinese []int // the notes in Chinese
}

// of is how to draw a query of a class; nil is a vain attempt.
func (d *drawer) of(class Class) func() []string {
	switch class {
	case TwoWords:
		return d.twoWords
	case Phrase:
		return d.phrase
	case Question:
		return d.question
	case Chinese:
		return d.chineseWord
	case Prefix2, Prefix3, Prefix4:
		return func() []string { return d.prefix(2 + slices.Index([]Class{Prefix2, Prefix3, Prefix4}, class)) }
	}
	list := d.wordsOf(class)
	return func() []string { return []string{pick(d.r, list)} }
}

// wordsOf are the words of one of the first three classes; of few notes, the
// word that is nearest to it.
func (d *drawer) wordsOf(class Class) []string {
	n := len(d.notes)
	low, high := 2, max(3, n/4000)
	switch class {
	case Mid:
		low, high = max(4, n/400), max(8, n/100)
	case Common:
		low, high = max(6, n*3/100), n
	}
	counts := count(d.notes)
	var out []string
	nearest := ""
	for _, word := range sortedByCount(counts) {
		switch c := counts[word]; {
		case c >= low && c <= high:
			out = append(out, word)
		case c < low:
			nearest = word
		}
	}
	if len(out) == 0 {
		return []string{nearest}
	}
	return out
}

// count says in how many notes each word is.
func count(notes []Note) map[string]int {
	counts, last := map[string]int{}, map[string]int{}
	for i, n := range notes {
		for _, w := range contentWords(n.Title + " " + n.Text) {
			if last[w] != i+1 {
				last[w] = i + 1
				counts[w]++
			}
		}
	}
	return counts
}

func sortedByCount(counts map[string]int) []string {
	words := make([]string, 0, len(counts))
	for w := range counts {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), strings.Compare(a, b))
	})
	return words
}

func (d *drawer) some() Note { return d.notes[d.r.IntN(len(d.notes))] }

func (d *drawer) twoWords() []string {
	words := contentWords(d.some().Text)
	if len(words) < 4 {
		return nil
	}
	a, b := pick(d.r, words), pick(d.r, words)
	if a == b {
		return nil
	}
	return []string{a, b}
}

func (d *drawer) prefix(length int) []string {
	words := contentWords(d.some().Text)
	if len(words) == 0 {
		return nil
	}
	word := pick(d.r, words)
	if len(word) <= length {
		return nil
	}
	return []string{word[:length]}
}

// phrase is two or three words in a row, two of them not among the stop words.
func (d *drawer) phrase() []string {
	words := strings.Fields(strings.ToLower(d.some().Text))
	length := 2 + d.r.IntN(2)
	if len(words) <= length {
		return nil
	}
	at := d.r.IntN(len(words) - length)
	words = words[at : at+length]
	content := 0
	for _, w := range words {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			return nil // a mark or code in it
		}
		if !stopWords[w] {
			content++
		}
	}
	if content < 2 {
		return nil
	}
	return words
}

// question begins as a question does and goes on with words of one note.
func (d *drawer) question() []string {
	words := contentWords(d.some().Text)
	if len(words) < 8 {
		return nil
	}
	at := d.r.IntN(len(words) - 4)
	return append(strings.Fields(pick(d.r, openings)), words[at:at+4]...)
}

var openings = []string{"how does", "why must", "what did", "when should", "where can", "which is"}

func (d *drawer) chineseWord() []string {
	if len(d.chinese) == 0 {
		return []string{pick(d.r, chineseNouns)}
	}
	text := d.notes[d.chinese[d.r.IntN(len(d.chinese))]].Text
	word := pick(d.r, chineseNouns)
	if !strings.Contains(text, word) {
		return nil
	}
	return []string{word}
}

func isChinese(n Note) bool { return strings.Contains(n.Text, "。") }

// contentWords are the words of a text that say what it is about, in small
// letters, in their order; code is left out.
func contentWords(text string) []string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		w = strings.TrimRight(w, ".,:")
		if len(w) > 2 && !stopWords[w] && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			out = append(out, w)
		}
	}
	return out
}

// stopWords are those of the patterns that say nothing by themselves.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, pattern := range slices.Concat(titles, sentences) {
		for _, w := range strings.Fields(pattern) {
			set[strings.TrimRight(w, ".,:")] = true
		}
	}
	return set
}()
