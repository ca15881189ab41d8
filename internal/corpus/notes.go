package corpus

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Note is something to remember.
type Note struct {
	Title   string
	Text    string
	Tags    []string
	Project string
	At      time.Time // when it was written; later notes are of a later time
}

// The first note's time, and how far the notes are apart: twenty an hour, all
// of a hundred thousand in seven months.
var first = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

const apart = 3 * time.Minute

const (
	seed      = 0x6361_6972_6e01
	topics    = 200
	inChinese = 12 // one note in so many
)

// Notes are the first n notes.
func Notes(n int) []Note {
	w := newWriter(rand.New(rand.NewPCG(seed, 1)))
	out := make([]Note, n)
	for i := range out {
		out[i] = w.note(first.Add(time.Duration(i) * apart))
	}
	return out
}

// A topic is what several notes are about.
type topic struct {
	project     string
	nouns, rare []string
	identifiers []string
}

// A writer fills in patterns.
type writer struct {
	r                  *rand.Rand
	nouns, verbs       lexicon
	adjectives, rare   lexicon
	chineseN, chineseV lexicon
	topics             []topic
	topic              topic // of the note at hand
	chineseHere        bool  // likewise
}

func newWriter(r *rand.Rand) *writer {
	w := &writer{
		r: r, nouns: newLexicon(nouns), verbs: newLexicon(verbs), adjectives: newLexicon(adjectives),
		rare: newLexicon(rareWords(r)), chineseN: newLexicon(chineseNouns), chineseV: newLexicon(chineseVerbs),
	}
	for range topics {
		t := topic{project: name(r) + "-" + pick(r, nouns)}
		for range 12 {
			t.nouns = append(t.nouns, pick(r, nouns))
			t.rare = append(t.rare, pick(r, w.rare.words))
			t.identifiers = append(t.identifiers, identifier(r))
		}
		w.topics = append(w.topics, t)
	}
	return w
}

func (w *writer) note(at time.Time) Note {
	w.topic = w.topics[w.r.IntN(len(w.topics))]
	n := Note{Project: w.topic.project, At: at}
	for range 1 + w.r.IntN(3) {
		n.Tags = append(n.Tags, pick(w.r, w.topic.nouns))
	}
	titles, sentences, stop := titles, sentences, ". "
	if w.chineseHere = w.r.IntN(inChinese) == 0; w.chineseHere {
		titles, sentences, stop = chineseTitles, chineseSentences, "。"
	}
	n.Title = w.fill(pick(w.r, titles))
	var b strings.Builder
	for range 2 + w.r.IntN(8) {
		b.WriteString(w.fill(pick(w.r, sentences)))
		b.WriteString(stop)
	}
	n.Text = strings.TrimSpace(b.String())
	return n
}

// fill puts words in the place of a pattern's capitals.
func (w *writer) fill(pattern string) string {
	var b strings.Builder
	for _, c := range pattern {
		if c < 'A' || c > 'Z' {
			b.WriteRune(c)
			continue
		}
		b.WriteString(w.word(c))
	}
	out := b.String()
	if pattern[0] == 'I' || out[0] >= utf8.RuneSelf {
		return out // code stays as it is, and so does Chinese
	}
	return upper(out)
}

func (w *writer) word(slot rune) string {
	switch {
	case slot == 'D':
		return strconv.Itoa(2 + w.r.IntN(998))
	case slot == 'I' && w.r.IntN(3) > 0:
		return pick(w.r, w.topic.identifiers)
	case slot == 'I':
		return identifier(w.r)
	case w.chineseHere && slot == 'N':
		return w.chineseN.draw(w.r)
	case w.chineseHere:
		return w.chineseV.draw(w.r)
	}
	return w.english(slot)
}

func (w *writer) english(slot rune) string {
	onTopic := w.r.IntN(5) < 2
	switch {
	case slot == 'N' && onTopic:
		return pick(w.r, w.topic.nouns)
	case slot == 'N':
		return w.nouns.draw(w.r)
	case slot == 'V':
		return w.verbs.draw(w.r)
	case slot == 'A':
		return w.adjectives.draw(w.r)
	case onTopic:
		return pick(w.r, w.topic.rare)
	}
	return w.rare.draw(w.r)
}
