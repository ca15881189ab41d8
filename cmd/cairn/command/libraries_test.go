package command_test

import (
	"io"
	"log"
	"strings"
	"testing"

	"cairn/cmd/cairn/command"
)

// What a library tells the standard logger does not disturb a person, but can be asked for.
func TestLibrariesAreHeardAtLevelDebugOnly(t *testing.T) {
	for args, heard := range map[string]bool{"version": false, "version --log-level debug": true} {
		var stderr strings.Builder
		env := command.System()
		env.Stdout, env.Stderr = io.Discard, &stderr
		if code := command.Main(strings.Fields(args), env); code != 0 {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr.String())
		}
		log.Print("a file was replaced")
		if got := strings.Contains(stderr.String(), "a file was replaced"); got != heard {
			t.Errorf("%s: stderr is %q", args, stderr.String())
		}
	}
}
