package secrets

import (
	"bytes"
	"encoding/json"
	"slices"
)

// maxNamed is how long a value may be for its name to say anything about it.
const maxNamed = 4 << 10

// ScanNamed is Scan for a value that carries a name, such as the member of a
// record: the name counts as if it stood before the value. Offsets are in the
// value.
func (s *Scanner) ScanNamed(name string, value []byte) []Finding {
	found := s.read(value)
	if len(value) == 0 || len(value) > maxNamed || !s.engine.knowsName(name) {
		return found
	}
	pair := append([]byte(name+" = "), value...)
	lead := len(pair) - len(value)
	for _, f := range s.read(pair) {
		if f.End > lead {
			f.Start, f.End = max(0, f.Start-lead), f.End-lead
			found = addFinding(found, f)
		}
	}
	return sorted(found)
}

// knowsName reports whether any rule looks for a name in this one.
func (e *engine) knowsName(name string) bool {
	known := false
	e.named.each([]byte(name), func(int, span) { known = true })
	return known
}

// ScanJSON is Scan for a JSON document that also reads every name and every
// string in it on its own, each string under its name. Text that is not JSON
// to its end is scanned as text all the same.
func (s *Scanner) ScanJSON(document []byte) []Finding {
	found := s.read(document)
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	path := names{}
	for {
		before := int(dec.InputOffset())
		token, err := dec.Token()
		if err != nil {
			return sorted(found) // the end, or no JSON from here on
		}
		name, isName := path.next(token)
		text, ok := token.(string)
		if !ok {
			continue
		}
		if isName {
			name = ""
		}
		raw := stringIn(document, before, int(dec.InputOffset()))
		for _, f := range s.ScanNamed(name, []byte(text)) {
			found = addFinding(found, raw.place(f, len(text)))
		}
	}
}

// names follows the tokens of a document and knows under which name the next
// value stands.
type names struct {
	open []json.Delim
	name []string // of each open object or array, and of the value to come
	key  bool     // the next token is a name
}

// next takes a token and returns the name it stands under, or whether it is a
// name itself.
func (n *names) next(token json.Token) (name string, isName bool) {
	if delim, ok := token.(json.Delim); ok {
		n.delim(delim)
		return "", false
	}
	inObject := len(n.open) > 0 && n.open[len(n.open)-1] == '{'
	if inObject && n.key {
		n.name[len(n.name)-1] = token.(string)
		n.key = false
		return "", true
	}
	n.key = inObject
	if len(n.name) > 0 {
		name = n.name[len(n.name)-1]
	}
	return name, false
}

func (n *names) delim(d json.Delim) {
	switch d {
	case '{', '[':
		inherited := ""
		if len(n.name) > 0 {
			inherited = n.name[len(n.name)-1]
		}
		n.open, n.name = append(n.open, d), append(n.name, inherited)
		n.key = d == '{'
	default:
		n.open, n.name = n.open[:len(n.open)-1], n.name[:len(n.name)-1]
		n.key = len(n.open) > 0 && n.open[len(n.open)-1] == '{'
	}
}

// A stringPlace is where a string stands in a document, without its quotes.
type stringPlace span

func stringIn(document []byte, from, to int) stringPlace {
	open := bytes.IndexByte(document[from:to], '"')
	return stringPlace{from + open + 1, to - 1}
}

// place moves a finding in a decoded string to the document: exactly if the
// string has no escapes, else to the whole string.
func (p stringPlace) place(f Finding, decoded int) Finding {
	if p.end-p.start == decoded {
		f.Start, f.End = p.start+f.Start, p.start+f.End
	} else {
		f.Start, f.End = p.start, p.end
	}
	return f
}

// addFinding keeps one finding of a rule for each place, and not too many.
func addFinding(found []Finding, f Finding) []Finding {
	if len(found) >= maxFindings {
		return found
	}
	for i := range found {
		if found[i].Rule == f.Rule && found[i].Start < f.End && f.Start < found[i].End {
			found[i].Certain = found[i].Certain || f.Certain
			return found
		}
	}
	return append(found, f)
}

func sorted(found []Finding) []Finding {
	slices.SortFunc(found, compareFindings)
	return found
}
