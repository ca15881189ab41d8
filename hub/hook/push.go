package hook

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
)

// A Call is how git starts its hook.
type Call struct {
	Getenv func(string) string
	Dir    string // where it was started
	Stdin  io.Reader
}

// maxInput bounds git's list of refs. A push that names as many is refused in
// any case.
const maxInput = 1 << 20

var updateForm = regexp.MustCompile(`^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)$`)

func readCommands(stdin io.Reader) ([]gitwire.Command, error) {
	input, err := io.ReadAll(io.LimitReader(stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read git's list of refs: %w", err)
	}
	if len(input) > maxInput || len(input) == 0 {
		return nil, errUnreadable
	}
	var commands []gitwire.Command
	lines := bufio.NewScanner(strings.NewReader(string(input)))
	lines.Buffer(nil, maxInput+1)
	for lines.Scan() {
		m := updateForm.FindStringSubmatch(lines.Text())
		if m == nil {
			return nil, errUnreadable
		}
		commands = append(commands, gitwire.Command{Old: plumbing.NewHash(m[1]), New: plumbing.NewHash(m[2]), Ref: m[3]})
	}
	return commands, lines.Err()
}

// readPlaces finds the folders. Git names the quarantine as the one where new
// objects go; GIT_QUARANTINE_PATH says so again, but not every server passes it
// on.
func readPlaces(getenv func(string) string, dir string) (p gitstore.Places, err error) {
	if getenv("GIT_NAMESPACE") != "" {
		return p, errNamespace
	}
	repo := getenv("GIT_DIR")
	if repo == "" {
		repo = "."
	}
	p.Repo = within(dir, repo)
	objects := getenv("GIT_OBJECT_DIRECTORY")
	if objects == "" || within(dir, objects) == filepath.Join(p.Repo, "objects") {
		return p, errNoQuarantine
	}
	p.Quarantine = within(dir, objects)
	if q := getenv("GIT_QUARANTINE_PATH"); q != "" && within(dir, q) != p.Quarantine {
		return p, errNoQuarantine
	}
	list, err := splitPaths(getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
	for _, name := range list {
		p.Stored = append(p.Stored, within(dir, name))
	}
	return p, err
}

func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// splitPaths splits a list of paths as git does: one that begins with a quote
// is quoted as in C.
func splitPaths(list string) (paths []string, err error) {
	for list != "" {
		name, rest := list, ""
		if list[0] == '"' {
			quoted, err := strconv.QuotedPrefix(list)
			if err != nil {
				return nil, errUnreadable
			}
			if name, err = strconv.Unquote(quoted); err != nil {
				return nil, errUnreadable
			}
			rest = strings.TrimPrefix(list[len(quoted):], string(filepath.ListSeparator))
		} else {
			name, rest, _ = strings.Cut(list, string(filepath.ListSeparator))
		}
		if name != "" {
			paths = append(paths, name)
		}
		list = rest
	}
	return paths, nil
}
