package search

import (
	"slices"
	"strings"

	"cairn/search/segfile"
)

// A partLook is a look at the texts of one part. It knows words by their
// numbers, and makes text of those alone that may be forms of what is sought.
type partLook struct {
	*sight
	seg   *seg
	maybe *segfile.WordSet
	known map[uint32]form // of maybe
}

// at is the look at a part, which is made if there is none.
func (l *look) at(part int, s *seg) *partLook {
	if l.parts[part] == nil {
		l.parts[part] = &partLook{newSight(l), s, s.words.Begun(l.starts()), map[uint32]form{}}
	}
	return l.parts[part]
}

// starts are what words in a text begin with that may be other than otherForm.
// A form of one or two letters has no stem but itself.
func (l *look) starts() []string {
	out := []string{" ", regionEnd, lineEnd}
	for _, w := range l.words {
		start := w.stem[:min(len(w.stem), commonStart)]
		out = append(out, start)
		if !strings.HasPrefix(w.exact, start) {
			out = append(out, w.exact+" ")
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bonus is that of the text of a document.
func (l *partLook) bonus(doc uint32) (uint32, error) {
	text, err := l.seg.coded(doc)
	if err != nil {
		return 0, err
	}
	l.reset()
	if err := l.read(text); err != nil {
		return 0, err
	}
	return l.sight.bonus(), nil
}

// read goes over a text, but for what is beyond maxLook.
func (l *partLook) read(text segfile.Coded) error {
	for left := maxLook; ; left-- {
		skipped := text.Skip(l.maybe, left) // all of them other forms
		l.pos += skipped
		left -= skipped
		if left == 0 || text.Left() == 0 {
			return nil
		}
		code, word, err := text.Next()
		if err != nil {
			return err
		}
		l.see(l.form(code, word))
	}
}

func (l *partLook) form(code uint32, word []byte) form {
	if word != nil {
		return l.formOf(word)
	}
	if !l.maybe.Has(code) {
		return form{}
	}
	f, ok := l.known[code]
	if !ok {
		f = l.formOf(l.seg.words.Word(code))
		l.known[code] = f
	}
	return f
}
