package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// misnumbered says what is wrong with the names and titles of decisions: each
// has a number of its own, without gaps, which its title repeats.
func misnumbered(titles map[string]string) (faults []string) {
	names := make([]string, 0, len(titles))
	for name := range titles {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if number := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, number) {
			faults = append(faults, fmt.Sprintf("%s should be %s…", name, number))
		}
		if start := fmt.Sprintf("# %d. ", i+1); !strings.HasPrefix(titles[name], start) {
			faults = append(faults, fmt.Sprintf("%s begins with %q, not with %q", name, titles[name], start))
		}
	}
	return faults
}

func TestDecisionsAreNumberedOnce(t *testing.T) {
	paths, err := filepath.Glob("docs/adr/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d decisions, %v", len(paths), err)
	}
	titles := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		titles[filepath.Base(path)], _, _ = strings.Cut(string(b), "\n")
	}
	for _, fault := range misnumbered(titles) {
		t.Error(fault)
	}
	for _, bad := range []map[string]string{
		{"0001-a.md": "# 1. A", "0001-b.md": "# 1. B"},
		{"0001-a.md": "# 1. A", "0003-b.md": "# 3. B"},
		{"0001-a.md": "# 2. A"},
	} {
		if len(misnumbered(bad)) == 0 {
			t.Errorf("nothing is found wrong with %v", bad)
		}
	}
}
