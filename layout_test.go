package cairn_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The map. Each folder lists the folders whose packages it may import besides
// its own.
var mayImport = map[string][]string{
	"cmd":        {"hub", "agent", "installers", "policy", "internal"}, // policy: "cairn policy scan" runs the gate's own code
	"hub":        {"sync", "policy", "internal"},
	"agent":      {"sync", "search", "policy", "internal"},
	"installers": {"internal"},
	"sync":       {"internal"},
	"search":     {"internal"},
	"policy":     {"internal"},
	"internal":   {},
}

// What single packages may import besides, and why.
var mayAlsoImport = map[string][]string{
	"cmd/cairn/bench": {"sync"}, // "cairn bench store" measures what lies below the agent
}

// Each of these libraries has one home, so that it can be replaced there.
var onlyIn = map[string][]string{
	"github.com/blugelabs/":         {"search"},
	"github.com/gliderlabs/ssh":     {"hub/sshdoor"},
	"github.com/mark3labs/mcp-go":   {"agent/mcptools", "cmd/cairn/mcpclient"},
	"github.com/kardianos/service":  {"installers/background"},
	"github.com/spf13/cobra":        {"cmd/cairn/command"},
	"github.com/coregx/ahocorasick": {"policy/secrets"},
}

// source is one Go file as far as the map is concerned.
type source struct {
	path    string // from the root, with slashes
	imports []string
	comment bool // has a package comment
}

func (s source) dir() string    { return path.Dir(s.path) }
func (s source) folder() string { first, _, _ := strings.Cut(s.path, "/"); return first }
func (s source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }

func read(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); d.IsDir() && name != "." && err == nil {
			return fs.SkipDir // another module, such as a benchmark's
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, newSource(filepath.ToSlash(name), file))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func newSource(name string, file *ast.File) source {
	s := source{path: name, comment: file.Doc != nil}
	for _, i := range file.Imports {
		s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
	}
	return s
}

// violations says what in the files is not as the map has it.
func violations(all []source) []string {
	var bad []string
	say := func(s source, format string, args ...any) {
		bad = append(bad, s.path+": "+fmt.Sprintf(format, args...))
	}
	for _, s := range all {
		for _, i := range s.imports {
			if why := forbidden(s, i); why != "" {
				say(s, "imports %s: %s", i, why)
			}
		}
		if s.dir() == "sync" {
			say(s, "the folder sync holds no package: one there would hide the standard library's")
		}
		if s.comment && !s.isTest() && path.Base(s.path) != "doc.go" {
			say(s, "the package comment belongs into doc.go")
		}
	}
	return append(bad, undocumented(all)...)
}

func forbidden(s source, i string) string {
	for lib, homes := range onlyIn {
		inside := func(home string) bool { return s.dir() == home || strings.HasPrefix(s.dir(), home+"/") }
		if strings.HasPrefix(i, lib) && !s.isTest() && !slices.ContainsFunc(homes, inside) {
			return "only " + strings.Join(homes, " and ") + " may know that library"
		}
	}
	rest, ours := strings.CutPrefix(i, "cairn/")
	if !ours {
		return ""
	}
	to, _, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasSuffix(path.Base(rest), "test") && !s.isTest() && !strings.HasSuffix(path.Base(s.dir()), "test"):
		return "that package is for tests"
	case path.Base(rest) == "fleettest" || s.dir() == "internal/fleettest":
		return "" // a hub and its agents in one process know everything
	case s.folder() == to || s.isTest() && s.folder() == "cmd":
		return ""
	case slices.Contains(mayAlsoImport[s.dir()], to):
		return ""
	case !slices.Contains(mayImport[s.folder()], to):
		return fmt.Sprintf("%s may import %v", s.folder(), mayImport[s.folder()])
	}
	return ""
}

// undocumented lists packages without a doc.go that has the comment.
func undocumented(all []source) []string {
	documented := map[string]bool{}
	for _, s := range all {
		if path.Base(s.path) == "doc.go" && s.comment {
			documented[s.dir()] = true
		}
	}
	var bad []string
	for _, s := range all {
		if !documented[s.dir()] && !s.isTest() {
			bad = append(bad, s.dir()+": no doc.go with a package comment")
		}
	}
	slices.Sort(bad)
	return slices.Compact(bad)
}

func TestLayout(t *testing.T) {
	all := read(t)
	if len(all) < 100 {
		t.Fatalf("only %d files were looked at", len(all))
	}
	for _, v := range violations(all) {
		t.Error(v)
	}
	for _, folder := range []string{"hub", "agent", "sync", "search", "policy", "installers", "cmd", "internal", "docs", "changelog", ".ci"} {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			t.Errorf("the folder %s is missing: %v", folder, err)
		}
	}
}

// A test of the map that cannot fail would be worth nothing.
func TestLayoutFindsEachViolation(t *testing.T) {
	doc := func(dir string) source { return source{path: dir + "/doc.go", comment: true} }
	good := []source{doc("hub"), doc("agent"), doc("sync/merge"), doc("search"), doc("policy"), doc("internal/event"), doc("cmd/cairn")}
	if v := violations(good); len(v) > 0 {
		t.Fatalf("nothing is wrong here: %v", v)
	}
	for want, s := range map[string]source{
		"hub/x.go: imports cairn/agent/memory":        {path: "hub/x.go", imports: []string{"cairn/agent/memory"}},
		"search/x.go: imports cairn/sync/merge":       {path: "search/x.go", imports: []string{"cairn/sync/merge"}},
		"internal/event/x.go: imports cairn/policy":   {path: "internal/event/x.go", imports: []string{"cairn/policy"}},
		"agent/x.go: imports cairn/cmd/cairn":         {path: "agent/x.go", imports: []string{"cairn/cmd/cairn"}},
		"agent/x.go: imports github.com/blugelabs/":   {path: "agent/x.go", imports: []string{"github.com/blugelabs/bluge"}},
		"hub/x.go: imports cairn/internal/fleettest":  {path: "hub/x.go", imports: []string{"cairn/internal/fleettest"}},
		"sync/x.go: the folder sync holds no package": {path: "sync/x.go"},
		"hub/x.go: the package comment belongs":       {path: "hub/x.go", comment: true},
		"hub/new: no doc.go":                          {path: "hub/new/x.go"},
	} {
		got := violations(append(slices.Clone(good), s))
		if !slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, want) }) {
			t.Errorf("not found: %s; found %v", want, got)
		}
	}
}
