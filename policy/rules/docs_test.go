package rules_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"cairn/policy/rules"
)

// The example in the documentation is a valid file that says everything a file
// can say.
func TestTheDocumentedExampleIsValid(t *testing.T) {
	doc, err := os.ReadFile("../../docs/POLICY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	_, over, err := rules.CheckNew([]byte(example), time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	if wrong, ok := errors.AsType[*rules.CheckError](err); ok {
		t.Fatal("\n" + wrong.In("docs/POLICY.md"))
	}
	if len(over) > 0 {
		t.Errorf("over: %+v", over)
	}
	f := parse(t, example)
	if len(f.Patterns) != 1 || len(f.Allow) != 1 || len(f.Off) != 1 || len(f.Retention) != 2 || len(f.Spaces) != 3 || f.WritesPerHour != 600 || f.Spaces["ops"].Limits.Event != 16<<10 {
		t.Errorf("%+v", f)
	}
}
