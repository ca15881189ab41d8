package scripts

import (
	"strings"
	"testing"
)

func TestEverySystemHasItsScripts(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, script := range []func(string) (string, string){Install, Uninstall} {
			name, text := script(goos)
			if strings.HasSuffix(name, ".ps1") != (goos == "windows") || !strings.Contains(text, name) && !strings.Contains(text, strings.TrimPrefix(name, "un")) {
				t.Errorf("%s: %s holds %q", goos, name, text)
			}
			if at := strings.IndexFunc(text, func(r rune) bool { return r > 0x7E || r == '\r' }); at >= 0 {
				// Windows PowerShell reads a file without a mark in the code page of the machine, and sh stumbles over CR.
				t.Errorf("%s holds a character at %d that not every system reads alike", name, at)
			}
		}
	}
}
