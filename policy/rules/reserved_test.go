package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ruleNames are the texts of the constants of the whole module that name a
// rule: RuleClock and the like.
func ruleNames(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names = append(names, namesIn(file)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func namesIn(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		for i := 0; ok && i < min(len(c.Names), len(c.Values)); i++ {
			text, isText := c.Values[i].(*ast.BasicLit)
			if isText && text.Kind == token.STRING && strings.HasPrefix(strings.ToLower(c.Names[i].Name), "rule") {
				if name, err := strconv.Unquote(text.Value); err == nil {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

// A refusal names its rule. If a team's pattern had the name of another rule,
// programs that go by it would take one for the other.
func TestNoPatternHasTheNameOfAnotherRule(t *testing.T) {
	names := ruleNames(t, filepath.Join("..", ".."))
	for _, known := range []string{"clock", "writes-per-hour", "stale", "audit-space", "stranger", "unjudged", "append-only", "no-right"} {
		if !slices.Contains(names, known) {
			t.Errorf("the rule %s is not found in the source", known)
		}
	}
	for _, name := range names {
		got := said([]byte("version: 1\nteam: acme\nadmins: [ana]\nsecrets: {patterns: [{id: '" + name + "', match: 'adk_[0-9]{30}', like: 'adk_[0-9]{30}'}]}\n"))
		if !strings.Contains(got, "is a built-in rule") {
			t.Errorf("a pattern may be called %s: %s", name, got)
		}
	}
}
