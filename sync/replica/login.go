package replica

import (
	"bytes"
	"context"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A login is a name and a password or token. It stays in memory, and no message
// holds it.
type login struct{ user, password string }

// String keeps a login out of whatever prints it.
func (login) String() string { return "(login)" }

// GoString does so under %#v too.
func (login) GoString() string { return "(login)" }

// A loginSource knows where people keep their logins for git: the text of a
// netrc file in CAIRN_NETRC, the netrc file, and git's credential helpers, in
// this order. Nothing is ever asked of a person, stored or changed.
type loginSource struct {
	getenv func(string) string
	home   string // the user's folder; empty if there is none
	git    string // the program; empty if there is none
}

func userLogins() loginSource {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	git, err := exec.LookPath("git")
	if err != nil {
		git = ""
	}
	return loginSource{getenv: os.Getenv, home: home, git: git}
}

// logins yields what there is for a host, the likeliest first.
func (s loginSource) logins(ctx context.Context, at *url.URL) iter.Seq[login] {
	return func(yield func(login) bool) {
		texts := []string{s.getenv("CAIRN_NETRC"), s.netrc()}
		for _, text := range texts {
			if l, ok := findLogin(text, at.Hostname(), at.User.Username()); ok && !yield(l) {
				return
			}
		}
		if l, ok := s.fromGit(ctx, at); ok {
			yield(l)
		}
	}
}

// netrc is the text of the user's netrc file; empty if it cannot be read.
func (s loginSource) netrc() string {
	names := []string{s.getenv("NETRC")}
	if s.home != "" {
		names = append(names, filepath.Join(s.home, ".netrc"))
	}
	if s.home != "" && runtime.GOOS == "windows" {
		names = append(names, filepath.Join(s.home, "_netrc"))
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		if b, err := os.ReadFile(name); err == nil {
			return string(b)
		}
	}
	return ""
}

// helperPatience is how long a credential helper may take: it must not open a
// window, but it may ask a keychain.
const helperPatience = 20 * time.Second

// fromGit asks git's credential helpers, which must not ask anybody.
func (s loginSource) fromGit(ctx context.Context, at *url.URL) (login, bool) {
	if s.git == "" || strings.ContainsAny(at.Host+at.Path+at.User.Username(), "\n\r\x00") {
		return login{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, helperPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.git, "credential", "fill")
	cmd.Dir = s.home // the project at hand has no say in it
	cmd.Env = quietGit(os.Environ())
	question := "protocol=" + at.Scheme + "\nhost=" + at.Host + "\npath=" + strings.TrimPrefix(at.Path, "/") + "\n"
	if user := at.User.Username(); user != "" {
		question += "username=" + user + "\n"
	}
	cmd.Stdin = strings.NewReader(question + "\n")
	answer, err := cmd.Output()
	if err != nil {
		return login{}, false // there is none; what git says of that helps nobody
	}
	var l login
	for line := range bytes.Lines(answer) {
		key, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), "=")
		switch key {
		case "username":
			l.user = value
		case "password":
			l.password = value
		}
	}
	return l, l.password != ""
}

// quietGit is an environment in which git belongs to no repository and asks no
// person.
func quietGit(env []string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_TRACE", "GIT_TRACE_CURL":
		default:
			out = append(out, e)
		}
	}
	return append(out, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never")
}

// findLogin looks for a host in the text of a netrc file. user is empty if any
// will do.
func findLogin(text, host, user string) (login, bool) {
	words := netrcWords(text)
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		mine := word == "default"
		if word == "machine" && len(words) > 0 {
			mine = strings.EqualFold(words[0], host)
			words = words[1:]
		} else if !mine {
			continue
		}
		var l login
		l, words = machineLogin(words)
		if mine && l.password != "" && (user == "" || l.user == user) {
			return l, true
		}
	}
	return login{}, false
}

// machineLogin takes the words that belong to one machine.
func machineLogin(words []string) (l login, rest []string) {
	for len(words) >= 2 {
		switch words[0] {
		case "login":
			l.user = words[1]
		case "password":
			l.password = words[1]
		case "account":
		default:
			return l, words
		}
		words = words[2:]
	}
	return l, words
}

// netrcWords splits a netrc file. Words may stand in quotes; a line that begins
// with # is a comment; a macro goes to the next empty line.
func netrcWords(text string) []string {
	var words []string
	macro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if macro {
			macro = line != ""
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		for line != "" {
			var word string
			word, line = netrcWord(line)
			if word == "macdef" {
				macro = true
				break
			}
			words = append(words, word)
		}
	}
	return words
}

func netrcWord(line string) (word, rest string) {
	if line[0] == '"' {
		var b strings.Builder
		for i := 1; i < len(line); i++ {
			switch {
			case line[i] == '\\' && i+1 < len(line):
				i++
				b.WriteByte(line[i])
			case line[i] == '"':
				return b.String(), strings.TrimSpace(line[i+1:])
			default:
				b.WriteByte(line[i])
			}
		}
		return b.String(), ""
	}
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimSpace(line[end:])
}
