package splice

import (
	"bytes"
	"strings"

	"cairn/internal/lazyregexp"
)

// fencedSyntax keeps an entry between two lines that are comments in Markdown. The markers say nothing but the name: some
// tools refuse a file with a comment that reads like an instruction.
type fencedSyntax struct{}

var fenceLine = lazyregexp.New(`(?m)^<!-- ([a-z0-9-]+):(begin v1|end) -->[ \t]*\r?$`)

// A fence is an entry with its place: from the start of the first marker line to the end of the last, without its line end.
type fence struct {
	name       string
	start, end int
	text       string
}

func (fencedSyntax) decode(text []byte) (any, error) {
	fences, err := fencesIn(text)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	rest := text
	for i := len(fences) - 1; i >= 0; i-- {
		f := fences[i]
		if _, twice := out[f.name]; twice {
			return nil, &ParseError{Line: lineAt(text, f.start), Reason: "there are two blocks named " + f.name}
		}
		out[f.name] = f.text
		rest = Edit{At: f.start, Cut: f.end - f.start}.Apply(rest)
	}
	// Line ends at the seam are nobody's content.
	out[""] = strings.Join(strings.FieldsFunc(string(rest), func(r rune) bool { return r == '\n' || r == '\r' }), "\n")
	return out, nil
}

func fencesIn(text []byte) ([]fence, error) {
	var fences []fence
	var open *fence
	for _, m := range fenceLine().FindAllSubmatchIndex(text, -1) {
		name, begins := string(text[m[2]:m[3]]), string(text[m[4]:m[5]]) != "end"
		lineEnd := m[0] + len(bytes.TrimRight(text[m[0]:m[1]], "\r"))
		switch {
		case begins && open == nil:
			open = &fence{name: name, start: m[0], end: lineEnd}
		case !begins && open != nil && open.name == name:
			open.text = unixLines(text[open.end:m[0]])
			open.end = lineEnd
			fences, open = append(fences, *open), nil
		default:
			return nil, &ParseError{Line: lineAt(text, m[0]), Reason: "the markers of a block do not pair"}
		}
	}
	if open != nil {
		return nil, &ParseError{Line: lineAt(text, open.start), Reason: "a block has no end marker"}
	}
	return fences, nil
}

func unixLines(text []byte) string {
	return strings.Trim(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "\n")
}

func (s fencedSyntax) insert(text []byte, e Entry) (Edit, error) {
	eol := eolOf(text)
	put := strings.ReplaceAll(s.show(e), "\n", eol)
	if len(text) > 0 {
		put = eol + put
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		put = eol + put
	}
	return Edit{At: len(text), Put: put}, nil
}

func (fencedSyntax) show(e Entry) string {
	name, text := e.Path[0], e.Value.(string)
	return "<!-- " + name + ":begin v1 -->\n" + text + "\n<!-- " + name + ":end -->\n"
}

func (fencedSyntax) cut(text []byte, e Entry) ([]Edit, error) {
	fences, err := fencesIn(text)
	if err != nil {
		return nil, err
	}
	for _, f := range fences {
		if f.name == e.Path[0] {
			start, end := widen(text, f.start, f.end)
			return []Edit{{At: start, Cut: end - start}}, nil
		}
	}
	return nil, ErrNotCut
}
