package background

import (
	"encoding/xml"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

var goldens = []struct {
	goos, file string
	spec       Spec
}{
	{"linux", "cairn.service", Spec{
		Binary: "/home/zoë k/bin/cairn", Home: `/home/zoë k/.cairn 100%$x"\`, Env: map[string]string{"CAIRN_LOG": `a "b" 5% $c \`, "A": ""}}},
	{"darwin", "cairn.agent.plist", Spec{
		Binary: "/Users/zoë k/bin/cairn", Home: "/Users/zoë k/<.cairn> & 'co'", Env: map[string]string{"CAIRN_LOG": `"debug"`}}},
	{"windows", "task.xml", Spec{Binary: `C:\Users\Zoë K\cairn.exe`, Home: `D:\a & b\`}},
}

func TestTextsAreAsReviewed(t *testing.T) {
	t.Parallel()
	for _, g := range goldens {
		m, err := newManager(g.spec, g.goos, host{user: `HOME\zoë`})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", g.file)
		if *update {
			if err := os.WriteFile(file, []byte(m.Preview()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m.Preview() != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s differs; look at it and run the test with -update:\n%s", file, m.Preview())
		}
	}
}

func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not here; the unit is compared with the reviewed one only")
		return
	}
	verify := func(unit string) (string, error) {
		file := filepath.Join(t.TempDir(), "cairn.service")
		if err := os.WriteFile(file, []byte(unit), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(analyze, "--user", "verify", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	binary := filepath.Join(t.TempDir(), `with a 50% $blank`)
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	unit := systemdUnit(Spec{Binary: binary, Home: `/x y/%$"\`, Env: map[string]string{"A": `5% "b" \`}})
	if out, err := verify(unit); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := verify(strings.Replace(unit, "ExecStart=", "ExecStart=not-absolute/", 1)); err == nil && strings.TrimSpace(out) == "" {
		t.Error("the check finds nothing wrong with a unit that is wrong")
	}
}

// anyPath makes absolute paths with whatever a name can hold.
func anyPath(root string) *rapid.Generator[string] {
	return rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune(`ab %$"'\<>&;{ é漢`+"\u00a0")), 1, 20, -1), func(s string) string { return root + s })
}

func TestSystemdReadsBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		binary := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(anyPath("/").Draw(t, "binary"))
		spec := Spec{Binary: binary, Home: anyPath("/").Draw(t, "home"), Env: map[string]string{"A": anyPath("").Draw(t, "value")}}
		unit := systemdUnit(spec)
		words := systemdWords(t, field(t, unit, "ExecStart="))
		for i, word := range words {
			if words[i] = strings.ReplaceAll(word, "%%", "%"); i > 0 {
				words[i] = strings.ReplaceAll(words[i], "$$", "$")
			}
		}
		if got, want := strings.Join(words, "\x00"), strings.Join(append([]string{spec.Binary}, spec.arguments()...), "\x00"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got := systemdWords(t, field(t, unit, "Environment=")); strings.ReplaceAll(got[0], "%%", "%") != "A="+spec.Env["A"] {
			t.Fatalf("got %q, want %q", got, spec.Env["A"])
		}
	})
}

func field(t *rapid.T, unit, name string) string {
	for line := range strings.SplitSeq(unit, "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return rest
		}
	}
	t.Fatalf("no %s in %s", name, unit)
	return ""
}

var quotedWord = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"(?: |$)`)

// systemdWords takes a line apart by the rules of systemd.syntax(7), as far as all words are in double quotes.
func systemdWords(t *rapid.T, line string) []string {
	var words []string
	for line != "" {
		m := quotedWord.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a word: %q", line)
		}
		words = append(words, regexp.MustCompile(`\\(.)`).ReplaceAllString(m[1], "$1"))
		line = line[len(m[0]):]
	}
	return words
}

func TestPlistAndTaskReadBackWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mac := Spec{Binary: anyPath("/").Draw(t, "binary"), Home: anyPath("/").Draw(t, "home")}
		var plist struct {
			Dict struct {
				Array struct {
					Strings []string `xml:"string"`
				} `xml:"array"`
			} `xml:"dict"`
		}
		if err := xml.Unmarshal([]byte(launchdPlist(mac)), &plist); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(plist.Dict.Array.Strings, "\x00"), strings.Join(append([]string{mac.Binary}, mac.arguments()...), "\x00"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		win := Spec{Binary: anyPath(`C:\`).Draw(t, "exe"), Home: anyPath(`C:\`).Draw(t, "folder")}
		var task struct {
			Command   string `xml:"Actions>Exec>Command"`
			Arguments string `xml:"Actions>Exec>Arguments"`
		}
		if err := xml.Unmarshal([]byte(strings.Replace(taskXML(win, "u"), "UTF-16", "UTF-8", 1)), &task); err != nil {
			t.Fatal(err)
		}
		got := windowsWords(task.Arguments)
		if want := win.arguments(); task.Command != win.Binary || strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("got %q and %q, want %q and %q", task.Command, got, win.Binary, want)
		}
	})
}

// windowsWords takes a command line apart by the rules of Microsoft's C library.
func windowsWords(line string) []string {
	var words []string
	var word strings.Builder
	quoted, started := false, false
	for i := 0; i < len(line); i++ {
		slashes := len(line[i:]) - len(strings.TrimLeft(line[i:], `\`))
		started = started || slashes > 0
		i += slashes
		if i < len(line) && line[i] == '"' {
			word.WriteString(strings.Repeat(`\`, slashes/2))
			started = true
			if slashes%2 == 1 {
				word.WriteByte('"')
			} else {
				quoted = !quoted
			}
			continue
		}
		word.WriteString(strings.Repeat(`\`, slashes))
		switch {
		case i == len(line):
		case line[i] == ' ' && !quoted:
			words = append(words, word.String())
			word.Reset()
			started = false
		default:
			word.WriteByte(line[i])
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}

func TestTheTaskIsWrittenAsWindowsReadsIt(t *testing.T) {
	t.Parallel()
	if got := string(utf16LE("é\n")); got != "\xFF\xFE\xE9\x00\r\x00\n\x00" {
		t.Errorf("got %q", got)
	}
}
