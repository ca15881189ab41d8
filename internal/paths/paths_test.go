package paths_test

import (
	"errors"
	"path/filepath"
	"testing"

	"cairn/internal/paths"
)

func TestTheHomeIsFoundInOrder(t *testing.T) {
	abs := func(p string) string {
		a, err := filepath.Abs(p)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	cases := map[string]struct {
		flag, goos string
		env        map[string]string
		want       string
	}{
		"flag first":          {"f", "linux", map[string]string{"CAIRN_HOME": "e", "HOME": "h"}, abs("f")},
		"then the variable":   {"", "linux", map[string]string{"CAIRN_HOME": "e", "HOME": "h"}, abs("e")},
		"then the user's":     {"", "linux", map[string]string{"HOME": "h"}, filepath.Join("h", ".cairn")},
		"windows, no HOME":    {"", "windows", map[string]string{"USERPROFILE": "u"}, filepath.Join("u", ".cairn")},
		"windows, HOME is no": {"", "windows", map[string]string{"HOME": "h", "USERPROFILE": "u"}, filepath.Join("u", ".cairn")},
	}
	for name, c := range cases {
		got, err := paths.Find(c.flag, c.goos, func(k string) string { return c.env[k] })
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := paths.Find("", "linux", func(string) string { return "" }); !errors.Is(err, paths.ErrNoHome) {
		t.Errorf("without any: %v", err)
	}
}
