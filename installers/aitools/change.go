package aitools

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"cairn/installers/aitools/splice"
)

// An Action is what happens to a file.
type Action string

// The actions.
const (
	Create    Action = "create"    // the file is new
	Append    Action = "append"    // something is put into the file, nothing is taken out
	Replace   Action = "replace"   // what was there from an earlier connection is renewed
	Remove    Action = "remove"    // what a connection put there is taken out, perhaps with the file
	Unchanged Action = "unchanged" // nothing to do
	Manual    Action = "manual"    // left alone; a person has to do it
)

// A Change is what is planned for one file.
type Change struct {
	Path   string
	Action Action
	Before []byte // what the file holds; nil if there is none
	After  []byte // what it will hold; nil if it will be gone
	Note   string // what a person should know; may be empty

	Refusals []*ManualError // parts of the file that are left to a person

	steps  []step
	target string      // the file itself, if Path is a link to it
	perm   fs.FileMode // of the new contents
	record *fileRecord // what the ledger will say about the file; nil for nothing
	use    use
}

// A step is one edit, with the line at which it is done at that moment.
type step struct {
	line     int
	cut, put string
}

func newStep(text []byte, edit splice.Edit) step {
	cut := string(text[edit.At : edit.At+edit.Cut])
	line := 1 + bytes.Count(text[:edit.At], []byte("\n"))
	if startsBehindLine(edit.Put) || startsBehindLine(cut) {
		line++
	}
	return step{line: line, cut: cut, put: edit.Put}
}

// startsBehindLine tells whether a text begins with the end of the line before it, or with a comma and that.
func startsBehindLine(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, ","), "\r")
	return strings.HasPrefix(text, "\n")
}

// Diff shows the lines that go and come, each with its line number. Lines beside them are not shown: they are the settings
// of others, and among those are keys.
func (c Change) Diff() string {
	if c.Action == Unchanged || c.Action == Manual {
		return ""
	}
	var out strings.Builder
	out.WriteString("--- " + nameOrNull(c.Path, c.Before) + "\n+++ " + nameOrNull(c.Path, c.After) + "\n")
	for _, s := range c.steps {
		fmt.Fprintf(&out, "@@ line %d @@\n", s.line)
		writeLines(&out, "-", s.cut)
		writeLines(&out, "+", s.put)
	}
	return out.String()
}

func nameOrNull(path string, contents []byte) string {
	if contents == nil {
		return "/dev/null"
	}
	return path
}

func writeLines(out *strings.Builder, mark, text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if startsBehindLine(text) {
		text = strings.TrimPrefix(text, ",")
	}
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		out.WriteString(mark + line + "\n")
	}
}
