package rules_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"cairn/policy/rules"
)

var update = flag.Bool("update", false, "write what is found into testdata/check")

// said is what is wrong with a file, as the command says it.
func said(src []byte) string {
	_, err := rules.Parse(src)
	if wrong, ok := errors.AsType[*rules.CheckError](err); ok {
		return wrong.In("policy.yaml")
	}
	return ""
}

func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	names, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, want := archive.Files[0].Data, &archive.Files[1].Data
		got := []byte(said(src))
		if *update {
			*want = got
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) == 0 || !bytes.Equal(got, *want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, *want)
		}
	}
}
