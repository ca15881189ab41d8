package search

import (
	"slices"

	"cairn/search/analysis"
	"cairn/search/query"
)

const (
	// kinShare is how much of a word it says that a note holds one of its kin.
	kinShare = 0.5
	// kinNotes is up to how many notes every word has kin. Among more, most words
	// lead to enough notes, and to read those of the kin as well would take
	// longer than all the rest: only a word that no note holds has kin.
	kinNotes = 10_000
)

func kinName(stem string) string { return string(stemTerm) + stem + "=" }

// addKin lets notes count for the words of a plain question that hold others
// which people use for them: what a word means by itself, or what two in a row
// do, as in "time limit" or "back end". They do not hold the word, and so stand
// below those that hold all of them.
func (p *plan) addKin(words []*word, asked []query.Word) error {
	many := p.view.live > kinNotes
	for i, w := range words {
		if !hasKin(asked[i]) || many && slices.ContainsFunc(w.parts[0], p.finds) {
			continue
		}
		stem := analysis.Stem(asked[i].Parts[0])
		if err := p.kin(kinName(stem), analysis.Kin(stem), w); err != nil {
			return err
		}
		if many || i == 0 || !hasKin(asked[i-1]) {
			continue
		}
		name, stems := joinedKin(asked[i-1].Parts[0], asked[i].Parts[0])
		if err := p.kin(name, stems, words[i-1], w); err != nil {
			return err
		}
	}
	return nil
}

// hasKin is false for names, which stand for themselves.
func hasKin(w query.Word) bool {
	return len(w.Parts) == 1 && w.Field == query.Anywhere && !w.Star && !analysis.IsSolid(w.Parts[0])
}

// joinedKin are the stems that stand for two words in a row.
func joinedKin(first, second string) (name string, stems []string) {
	stem := analysis.Stem(first + second)
	return kinName(first + " " + second), append([]string{stem}, analysis.Kin(stem)...)
}

// kin counts the notes that hold any of the stems for some words.
func (p *plan) kin(name string, stems []string, words ...*word) error {
	if len(stems) == 0 {
		return nil
	}
	i, err := p.add(named{name: name, kin: true, read: func() (*source, error) { return p.view.anyStem(name, stems) }})
	if err != nil || !p.finds(i) {
		return err
	}
	for _, w := range words {
		w.kin = append(w.kin, i)
	}
	return nil
}

// anyStem is the notes that hold any of the stems.
func (v *view) anyStem(name string, stems []string) (*source, error) {
	var keys []string
	for _, stem := range stems {
		keys = append(keys, termKey(stemTerm, stem))
	}
	return v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(name, func() (*postings, error) { return s.union(nil, keys) })
	})
}

// holdsKin says whether a document holds kin of a word.
func (p *plan) holdsKin(w *word, ref docRef) bool { return p.anyHolds(ref.part, ref.doc, w.kin) }

// meant says that a sentence speaks of a word by its kin: there words are
// chosen less carefully than among keywords.
func (p *plan) meant(w *word) bool { return p.asks && slices.ContainsFunc(w.kin, p.finds) }
