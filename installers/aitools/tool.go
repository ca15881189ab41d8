package aitools

import (
	"fmt"
	"io/fs"
	"strings"

	"cairn/installers/aitools/splice"
)

// A Tool is one AI tool.
type Tool interface {
	// ID is the stable word for the tool, as in "--client ID".
	ID() string
	// Name is how people write it.
	Name() string
	// Layout says which files make the tool use cairn. It reads at most the tool's own configuration.
	Layout(Env) (Layout, error)
}

// A Layout is what belongs where.
type Layout struct {
	Home     string   // the directory whose existence says that the tool is used here
	Programs []string // what the tool's program is called, for the same question
	Parts    []Part
}

// A Role is what a part is for.
type Role string

// The roles. A tool without a place for one of them lacks that part.
const (
	Server       Role = "server"       // makes the tool start "cairn mcp"
	Instructions Role = "instructions" // says when to recall and when to remember
	Hook         Role = "hook"         // runs "cairn hook session-start"
	Support      Role = "support"      // what the tool asks for besides
)

// A Part is one thing in one file: the whole file, which then is ours alone, or an entry in a file of the tool.
type Part struct {
	Role  Role
	Path  string
	Perm  fs.FileMode // of a new file
	Whole string      // the contents of a file of ours; if empty, Entry counts
	Entry splice.Entry

	// Note is what a person has to know or do in the tool itself; may be empty.
	Note string

	// Common marks an entry that others in the file rely on as well. It is inserted if it is missing, and taken out again
	// only together with everything else.
	Common bool
}

// The permissions of new files. A tool's configuration often comes to hold keys.
const (
	textPerm   fs.FileMode = 0o644
	configPerm fs.FileMode = 0o600
)

// All lists the tools that can be connected, in the order in which they are offered.
func All() []Tool {
	return []Tool{claudeCode{}, codex{}, cursor{}, openClaw{}, hermes{}}
}

// ByID finds a tool. The error wraps ErrUnknownTool and names those that there are.
func ByID(id string) (Tool, error) {
	known := make([]string, 0, len(All()))
	for _, t := range All() {
		if t.ID() == id {
			return t, nil
		}
		known = append(known, t.ID())
	}
	return nil, fmt.Errorf("%q: %w; there are %s", id, ErrUnknownTool, strings.Join(known, ", "))
}
