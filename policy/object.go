package policy

import (
	"bytes"
	"slices"

	"cairn/policy/secrets"
)

// The kinds of thing that arrive with a push, as git calls its objects, and
// the name of a ref.
const (
	Commit = "commit"
	Tree   = "tree"
	Blob   = "blob"
	Tag    = "tag"
	Ref    = "ref"
)

// DecideRaw scans one object of a push, whether or not anything refers to it,
// and returns all findings. Data is the object's content without git's header;
// of an event's blob, the canonical bytes without its signature. Beside the
// whole it reads each part on its own: the names in a tree, the idents and the
// message of a commit or tag, the names and strings of JSON.
//
// What a team's file excuses in single spaces only is found.
func (p *Policy) DecideRaw(kind string, data []byte) []Finding {
	return p.DecideRawIn("", kind, data)
}

// DecideRawIn is DecideRaw for an object of a push to the space.
func (p *Policy) DecideRawIn(space, kind string, data []byte) []Finding {
	found := rawFindings(p.scannerFor(space), kind, data)
	return slices.DeleteFunc(found, func(f Finding) bool { return p.onTrial(f.Rule) })
}

func rawFindings(scanner *secrets.Scanner, kind string, data []byte) []Finding {
	if kind == Blob {
		return inField(nil, "content", scanner.ScanJSON(data))
	}
	var found []Finding
	if kind != Tree { // the ids in a tree are random bytes, and nobody's words
		found = inField(nil, kind, scanner.Scan(data))
	}
	for _, part := range partsOf(kind, data) {
		for _, f := range scanner.Scan(part.text) {
			f.Start, f.End = f.Start+part.start, f.End+part.start
			if !covered(found, f) {
				found = append(found, Finding{part.field, f})
			}
		}
	}
	return nameFields(found, kind, data)
}

func inField(found []Finding, field string, secrets []secrets.Finding) []Finding {
	for _, f := range secrets {
		found = append(found, Finding{field, f})
	}
	return found
}

func covered(found []Finding, f secrets.Finding) bool {
	for _, g := range found {
		if g.Rule == f.Rule && g.Start < f.End && f.Start < g.End {
			return true
		}
	}
	return false
}

// nameFields says of findings in a whole object in which part they lie.
func nameFields(found []Finding, kind string, data []byte) []Finding {
	parts := partsOf(kind, data)
	for i := range found {
		for _, p := range parts {
			if found[i].Start >= p.start && found[i].Start < p.start+len(p.text) {
				found[i].Field = p.field
			}
		}
	}
	return found
}

// A part is a stretch of an object that its writer chose.
type part struct {
	field string
	start int
	text  []byte
}

func partsOf(kind string, data []byte) []part {
	switch kind {
	case Commit, Tag:
		return headerParts(data)
	case Tree:
		return treeNames(data)
	}
	return nil
}

// headerParts are the values of the header lines and the message behind them.
func headerParts(data []byte) []part {
	var parts []part
	for at := 0; at < len(data); {
		end := at + lineLength(data[at:])
		line := data[at:end]
		if len(line) == 0 {
			return append(parts, part{"message", end + 1, data[min(end+1, len(data)):]})
		}
		name, value, ok := bytes.Cut(line, []byte(" "))
		if ok {
			parts = append(parts, part{headerField(name), end - len(value), value})
		}
		at = end + 1
	}
	return parts
}

func lineLength(data []byte) int {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n
	}
	return len(data)
}

// headerField names a header; what is no name of git's is not repeated, for
// it may be the secret.
func headerField(name []byte) string {
	switch s := string(name); s {
	case "tree", "parent", "author", "committer", "encoding", "gpgsig", "mergetag", "object", "type", "tag", "tagger":
		return s
	}
	return "header"
}

const hashSize = 20

// treeNames are the names of the entries: "mode name NUL hash".
func treeNames(data []byte) []part {
	var parts []part
	for at := 0; at < len(data); {
		blank := bytes.IndexByte(data[at:], ' ')
		end := bytes.IndexByte(data[at:], 0)
		if blank < 0 || end < blank {
			return append(parts, part{"name", at, data[at:]})
		}
		parts = append(parts, part{"name", at + blank + 1, data[at+blank+1 : at+end]})
		at += end + 1 + hashSize
	}
	return parts
}
