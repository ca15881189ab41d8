package sshdoor_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cairn/hub/sshdoor"
	"cairn/internal/event"
)

func TestTheCommandsThatAreUnderstood(t *testing.T) {
	for line, want := range map[string]sshdoor.Command{
		"git-upload-pack 'team'":          {Name: sshdoor.UploadPack, Args: []string{"team"}},
		"git-upload-pack '/team'":         {Name: sshdoor.UploadPack, Args: []string{"team"}},
		"git-upload-pack '/team.git'":     {Name: sshdoor.UploadPack, Args: []string{"team"}},
		"git upload-pack 'team'":          {Name: sshdoor.UploadPack, Args: []string{"team"}},
		"git-receive-pack 'personal'":     {Name: sshdoor.ReceivePack, Args: []string{"personal"}},
		"git receive-pack /team":          {Name: sshdoor.ReceivePack, Args: []string{"team"}},
		"  whoami  ":                      {Name: "whoami", Args: []string{}},
		"spaces":                          {Name: "spaces", Args: []string{}},
		"enrol":                           {Name: "enrol", Args: []string{}},
		"watch team /docs.git":            {Name: "watch", Args: []string{"team", "docs"}},
		"hub invite bo --space team":      {Name: "hub", Args: []string{"invite", "bo", "--space", "team"}},
		`hub revoke x --reason 'it'\''s'`: {Name: "hub", Args: []string{"revoke", "x", "--reason", "it's"}},
		"hub grant bo '*' read":           {Name: "hub", Args: []string{"grant", "bo", "*", "read"}},
		"hub x ''":                        {Name: "hub", Args: []string{"x", ""}},
	} {
		got, err := sshdoor.ParseCommand(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
}

func TestTheCommandsThatAreNot(t *testing.T) {
	for _, line := range []string{
		"", " ", "sh", "git", "git gc", "git-upload-archive 'team'", "git-upload-pack", "git-upload-pack 'a' 'b'",
		"git-upload-pack '../team'", "git-upload-pack '//team'", "git-upload-pack 'people/ana/personal'", "git-upload-pack 'Team'",
		"git-upload-pack 'team", "git-upload-pack --strict 'team'", "git-upload-pack 'team';id", "git-upload-pack $HOME", "git-upload-pack `id`",
		`git-upload-pack "team"`, "git-upload-pack 'team'\n", "git-upload-pack 'te\x00am'", "git-upload-pack '~/team'", "git-upload-pack ''",
		"whoami please", "enrol x", "watch", "watch ../x", "watch team|sh", "hub", "hub 'a\nb'", "hub a\\b", "hub \xff",
		"watch" + strings.Repeat(" team", 65), "hub" + strings.Repeat(" x", 300), "hub " + strings.Repeat("x", 20<<10),
	} {
		if got, err := sshdoor.ParseCommand(line); err == nil {
			t.Errorf("%.60q is understood as %+v", line, got)
		}
	}
}

// What git quotes reads back as it was.
func TestQuotedWordsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ -~äö漢]{0,20}`), 1, 8).Draw(t, "words")
		line := "hub"
		for _, w := range words {
			w = strings.ReplaceAll(w, "'", `'\''`)
			line += " '" + strings.ReplaceAll(w, "!", `'\!'`) + "'"
		}
		got, err := sshdoor.ParseCommand(line)
		if err != nil || !reflect.DeepEqual(got.Args, words) {
			t.Fatalf("%s reads as %q, %v", line, got.Args, err)
		}
	})
}

func FuzzParseCommand(f *testing.F) {
	f.Add("git-upload-pack '/team.git'")
	f.Add("watch a b c")
	f.Add(`hub audit --who 'a'\''b'`)
	f.Add("git-receive-pack 'a';id")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := sshdoor.ParseCommand(line)
		if err != nil {
			if len(line) > 30 && strings.Contains(err.Error(), line) {
				t.Fatalf("the error repeats %q", line)
			}
			return
		}
		for _, arg := range c.Args {
			if c.Name != sshdoor.Hub && !event.ValidSpaceName(arg) {
				t.Fatalf("%q gives the space %q", line, arg)
			}
			if !utf8.ValidString(arg) || strings.ContainsAny(arg, "\x00\r\n\x1b") {
				t.Fatalf("%q gives the word %q", line, arg)
			}
		}
	})
}
