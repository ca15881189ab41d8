package sshdoor

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// The commands besides those of package hubwire.
const (
	UploadPack  = "git-upload-pack"
	ReceivePack = "git-receive-pack"
	Hub         = "hub" // followed by an admin verb
)

// Bounds on a command line.
const (
	maxLine  = 16 << 10
	maxWords = 256
	maxWatch = 64 // spaces in one watch
)

// A Command is what a client asked the hub to run.
type Command struct {
	Name string   // one of the constants here and in package hubwire
	Args []string // for git's commands and watch: names of spaces, in valid form
}

// Git says whether the session speaks git's protocol on its output.
func (c Command) Git() bool { return c.Name == UploadPack || c.Name == ReceivePack }

// reads says whether the command has an input.
func (c Command) reads() bool {
	switch c.Name {
	case UploadPack, ReceivePack, hubwire.CmdEnrol, hubwire.CmdRenew, hubwire.CmdPolicy:
		return true
	}
	return false
}

// ParseCommand takes apart the command line of an SSH exec request. Nothing is
// expanded: a word is plain characters, single quotes and backslashes before a
// quote or an exclamation mark, as git writes them. The error is a
// *problem.Problem and holds nothing of the line.
func ParseCommand(line string) (Command, error) {
	words, ok := split(line)
	if !ok || len(words) == 0 {
		return Command{}, errCommand
	}
	if words[0] == "git" && len(words) > 1 { // the form of git --exec
		words = append([]string{"git-" + words[1]}, words[2:]...)
	}
	c := Command{Name: words[0], Args: words[1:]}
	switch c.Name {
	case UploadPack, ReceivePack:
		return c.withSpaces(1)
	case hubwire.CmdWatch:
		return c.withSpaces(maxWatch)
	case hubwire.CmdWhoami, hubwire.CmdSpaces, hubwire.CmdEnrol, hubwire.CmdRenew, hubwire.CmdPolicy, hubwire.CmdRoster:
		ok = len(c.Args) == 0
	case Hub:
		ok = len(c.Args) > 0
	default:
		ok = false
	}
	if !ok {
		return Command{}, errCommand
	}
	return c, nil
}

// withSpaces reads the arguments as one to limit names of spaces.
func (c Command) withSpaces(limit int) (Command, error) {
	if len(c.Args) == 0 || len(c.Args) > limit {
		return Command{}, errCommand
	}
	names := slices.Clone(c.Args)
	for i, arg := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(arg, "/"), ".git")
		if !event.ValidSpaceName(name) {
			return Command{}, errCommand
		}
		names[i] = name
	}
	c.Args = names
	return c, nil
}

// split cuts a line into words; false for whatever a shell would treat in a
// special way.
func split(line string) ([]string, bool) {
	if len(line) > maxLine || !utf8.ValidString(line) {
		return nil, false
	}
	var words []string
	for rest := strings.TrimLeft(line, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		word, after, ok := cutWord(rest)
		if !ok || len(words) == maxWords {
			return nil, false
		}
		words, rest = append(words, word), after
	}
	return words, true
}

func cutWord(s string) (word, rest string, ok bool) {
	var b strings.Builder
	for s != "" && s[0] != ' ' {
		switch {
		case s[0] == '\'':
			quoted, after, closed := strings.Cut(s[1:], "'")
			if !closed || strings.ContainsFunc(quoted, control) {
				return "", "", false
			}
			b.WriteString(quoted)
			s = after
		case strings.HasPrefix(s, `\'`), strings.HasPrefix(s, `\!`):
			b.WriteByte(s[1])
			s = s[2:]
		case plain(s[0]):
			b.WriteByte(s[0])
			s = s[1:]
		default:
			return "", "", false
		}
	}
	return b.String(), s, true
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./:@=,+%", c) >= 0
}
