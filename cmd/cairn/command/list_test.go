package command

import (
	"strings"
	"testing"

	"cairn/agent/api"
)

// What matched is bold where a person reads it on a terminal that can show
// that, and nowhere else.
func TestMatchesAreBoldOnATerminal(t *testing.T) {
	hit := api.Hit{ID: "01k0000000000000000000000x", Title: "Postgres for billing", Text: "We chose it.", Snippet: "We chose it.\x1b[2J"}
	for _, tt := range []struct {
		name    string
		screen  bool
		noColor bool
		goos    string
		env     map[string]string
		bold    bool
	}{
		{"a terminal", true, false, "linux", map[string]string{"TERM": "xterm"}, true},
		{"a pipe", false, false, "linux", map[string]string{"TERM": "xterm"}, false},
		{"--no-color", true, true, "linux", map[string]string{"TERM": "xterm"}, false},
		{"NO_COLOR", true, false, "linux", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"TERM=dumb", true, false, "linux", map[string]string{"TERM": "dumb"}, false},
		{"Windows Terminal", true, false, "windows", map[string]string{"WT_SESSION": "x"}, true},
		{"an old console", true, false, "windows", nil, false},
	} {
		a := &app{noColor: tt.noColor, env: Env{Screen: tt.screen, GOOS: tt.goos, Getenv: func(k string) string { return tt.env[k] }}}
		var out strings.Builder
		writeAnswer(&out, api.Answer{Hits: []api.Hit{hit}}, "", a.painter("why choose postgres"))
		for _, want := range []string{"\x1b[1mPostgres\x1b[22m for billing", "We \x1b[1mchose\x1b[22m it."} {
			if got := strings.Contains(out.String(), want); got != tt.bold {
				t.Errorf("%s: bold is %v in %q", tt.name, got, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b[2J") || !tt.bold && strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: a control goes to the terminal: %q", tt.name, out.String())
		}
	}
}
