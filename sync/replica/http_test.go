package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/internal/disk"
)

// serveGit serves the repositories in a folder by stock git's own program for
// web servers.
func serveGit(t *testing.T, root string) *httptest.Server {
	t.Helper()
	return serve(t, gitBackend(t, root))
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

func gitBackend(t *testing.T, root string) http.Handler {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("NOT RUN: stock git is missing, and it is the server here")
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: root, Logger: nil, Stderr: io.Discard,
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	// Like any web server in front of a CGI program it collects a request whose
	// length is not told.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, "the request broke off", http.StatusBadRequest)
				return
			}
			r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		}
		backend.ServeHTTP(w, r)
	})
}

func overHTTP(t *testing.T, address string) Remote {
	t.Helper()
	remote, _ := overHTTPWith(t, address, loginSource{getenv: func(string) string { return "" }})
	return remote
}

func overHTTPWith(t *testing.T, address string, logins loginSource) (Remote, *httpHost) {
	t.Helper()
	u, err := parseHTTP(address)
	if err != nil {
		t.Fatal(err)
	}
	h := newHTTPHost(u, logins)
	t.Cleanup(h.client.CloseIdleConnections)
	return &wireRemote{where: u.Host, open: h.open}, h
}

// bareRepository is an empty repository that stock git made.
func bareRepository(t *testing.T) (root, name string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT RUN: stock git is missing, and it is the server here")
	}
	root = t.TempDir()
	if b, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", filepath.Join(root, "team.git")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return root, "team.git"
}

// A push that is too large to be kept in memory is sent as it is made; the
// request for a fetch from far behind is compressed.
func TestALargePushOverHTTP(t *testing.T) {
	t.Parallel()
	root, name := bareRepository(t)
	var chunked, squeezed atomic.Int32
	backend := gitBackend(t, root)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 {
			chunked.Add(1)
		}
		if r.Header.Get("Content-Encoding") == "gzip" {
			squeezed.Add(1)
		}
		backend.ServeHTTP(w, r)
	}))
	a, b := newMachine(t, overHTTP(t, server.URL+"/"+name)), newMachine(t, overHTTP(t, server.URL+"/"+name))
	a.save("one")
	a.sync()
	b.sync()
	var texts []string
	for i := range 45 {
		texts = append(texts, noise(i, 60_000))
	}
	a.save(texts...)
	texts = nil
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("b%d", i))
	}
	b.save(texts...)
	a.sync()
	b.sync()
	a.sync()
	if got := len(b.texts()); got != 66 || len(a.texts()) != got {
		t.Errorf("the machines have %d and %d notes", len(a.texts()), got)
	}
	if a.head() != b.head() {
		t.Error("the machines differ")
	}
	if chunked.Load() == 0 {
		t.Error("no request was sent as it was made: the test was too small")
	}
	if squeezed.Load() == 0 {
		t.Error("no request was compressed")
	}
}

// noise is text that does not compress well.
func noise(seed, n int) string {
	var b strings.Builder
	x := uint64(seed)*2654435761 + 12345
	for b.Len() < n {
		x = x*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%x ", x>>20)
	}
	return b.String()
}

// A server asks for a login, and gets the one that is known for it: by none
// other, and only after it has asked.
func TestLoginsOverHTTP(t *testing.T) {
	t.Parallel()
	root, name := bareRepository(t)
	backend := gitBackend(t, root)
	const user = "someone"
	password := strings.Repeat("pass", 3) + "-word"
	var asked atomic.Int32
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, ok := r.BasicAuth()
		if ok && u == user && p == password {
			backend.ServeHTTP(w, r)
			return
		}
		if ok {
			asked.Add(1)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "log in", http.StatusUnauthorized)
	}))
	host := mustParse(t, server.URL).Hostname()
	good := "machine other.example login x password y\nmachine " + host + " login " + user + " password " + password + "\n"
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	for where, logins := range map[string]loginSource{
		"in the environment":        {getenv: envOf("CAIRN_NETRC", good)},
		"in the netrc file":         {getenv: envOf("", ""), home: home},
		"in a credential helper":    {getenv: envOf("", ""), home: t.TempDir(), git: helper(t, user, password)},
		"after one that is refused": {getenv: envOf("CAIRN_NETRC", "machine "+host+" login "+user+" password old"), home: home},
	} {
		remote, _ := overHTTPWith(t, server.URL+"/"+name, logins)
		m := newMachine(t, remote)
		m.save("a note by the login " + where)
		m.sync()
		m.save("and one more, with it")
		m.sync()
	}
	if asked.Load() > 3 {
		t.Errorf("the wrong login was tried %d times: the good one was not kept", asked.Load())
	}
	for where, logins := range map[string]loginSource{
		"none":             {getenv: envOf("", "")},
		"another host's":   {getenv: envOf("CAIRN_NETRC", "machine other.example login "+user+" password "+password)},
		"a wrong password": {getenv: envOf("CAIRN_NETRC", "machine "+host+" login "+user+" password wrong-"+password)},
	} {
		remote, h := overHTTPWith(t, server.URL+"/"+name, logins)
		_, err := newMachine(t, remote).Pull(t.Context())
		if _, refused := errors.AsType[*RefusedError](err); !refused {
			t.Errorf("with the login %s: %v", where, err)
		}
		if err != nil && strings.Contains(err.Error(), password) || strings.Contains(fmt.Sprintf("%v %+v %#v", h.kept(), login{user, password}, login{user, password}), password) {
			t.Errorf("with the login %s the password is told: %v", where, err)
		}
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func envOf(name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return ""
	}
}

// helper stands for a git whose credential helper knows one login.
func helper(t *testing.T, user, password string) string {
	t.Helper()
	if os.PathSeparator == '\\' {
		t.Skip("NOT RUN: the stand-in is a shell script")
	}
	path := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\n[ \"$1 $2\" = 'credential fill' ] && [ \"$GIT_TERMINAL_PROMPT\" = 0 ] && grep -q '^host=127.0.0.1' || exit 1\n" +
		"printf 'protocol=http\\nusername=%s\\npassword=%s\\n' '" + user + "' '" + password + "'\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a server answers is told apart by what there is to do.
func TestAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", code) }
	}
	elsewhere := serve(t, status(200))
	for what, c := range map[string]struct {
		answer  http.HandlerFunc
		offline bool
	}{
		"no repository":      {status(404), false},
		"no right":           {status(403), false},
		"a web page":         {status(200), false},
		"too busy":           {status(503), true},
		"too many questions": {status(429), true},
		"moved to other host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusMovedPermanently)
		}, false},
		"round and round": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) }, false},
		"a line and no more": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, "001e# service=git-upload-pack\n0000")
		}, true},
		"half an advert": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, "001e# service=git-upload-pack\n000000f0"+strings.Repeat("0", 40))
		}, true},
		"another service": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, "001f# service=git-receive-pack\n0000")
		}, false},
	} {
		m := newMachine(t, overHTTP(t, serve(t, c.answer).URL+"/team.git"))
		m.save("kept")
		_, err := m.Pull(t.Context())
		_, refused := errors.AsType[*RefusedError](err)
		if err == nil || IsOffline(err) != c.offline || refused == c.offline {
			t.Errorf("%s: %v", what, err)
		}
		m.has("kept")
	}
	gone := httptest.NewServer(status(200))
	gone.Close()
	if _, err := newMachine(t, overHTTP(t, gone.URL+"/team.git")).Pull(t.Context()); !IsOffline(err) {
		t.Errorf("a server that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hangs := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }))
	if _, err := newMachine(t, overHTTP(t, hangs.URL+"/team.git")).Pull(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("when the caller leaves: %v", err)
	}
}

// A server that does not prove who it is gets nothing.
func TestAnUntrustedCertificate(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	_, err := newMachine(t, overHTTP(t, server.URL+"/team.git")).Pull(t.Context())
	if _, refused := errors.AsType[*RefusedError](err); !refused || reached.Load() {
		t.Errorf("%v, reached: %v", err, reached.Load())
	}
}

// The real thing, as far as it can be had on one machine: TLS and HTTP/2.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	root, name := bareRepository(t)
	server := httptest.NewUnstartedServer(gitBackend(t, root))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	remote := func() Remote {
		r, h := overHTTPWith(t, server.URL+"/"+name, loginSource{getenv: envOf("", "")})
		h.client.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		return r
	}
	a, b := newMachine(t, remote()), newMachine(t, remote())
	a.save("from a")
	b.save("from b")
	a.sync()
	b.sync()
	a.sync()
	a.has("from a", "from b")
	b.has("from a", "from b")
}

func TestHTTPAddresses(t *testing.T) {
	t.Parallel()
	password := "let" + "mein"
	for address, ok := range map[string]bool{
		"https://example.com/team.git":                       true,
		"https://example.com:8443/a/b/":                      true,
		"https://someone@example.com/team.git":               true,
		"http://127.0.0.1:8080/team.git":                     true,
		"http://localhost/team.git":                          true,
		"http://[::1]:80/team.git":                           true,
		"http://example.com/team.git":                        false,
		"http://127.0.0.1.example.com/team.git":              false,
		"https://someone:" + password + "@example.com/t.git": false,
		"https://example.com":                                false,
		"https://example.com/":                               false,
		"https:///team.git":                                  false,
		"https://example.com/team.git?" + password + "=1":    false,
		"https://example.com/%zz" + password:                 false,
		"https://exa\nmple.com/team.git":                     false,
		"ftp://example.com/team.git":                         false,
	} {
		_, err := Plain(disk.OS, address)
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "example")) {
			t.Errorf("the address is repeated: %v", err)
		}
	}
}

func TestNetrc(t *testing.T) {
	t.Parallel()
	const text = "# machine h login commented password out\n" +
		"machine a.example login ann password one\n" +
		"machine b.example\n\tlogin bob\n\tpassword \"two \\\"2\\\"\"\n" +
		"macdef init\n machine c.example login evil password macro\n\n" +
		"machine c.example account x login cid password #three\n" +
		"machine d.example login dora\n" +
		"machine a.example login ann2 password four\n" +
		"default login any password five\n"
	for _, c := range []struct{ host, user, want string }{
		{"a.example", "", "ann:one"},
		{"A.Example", "", "ann:one"},
		{"a.example", "ann2", "ann2:four"},
		{"b.example", "", `bob:two "2"`},
		{"c.example", "", "cid:#three"},
		{"d.example", "", "any:five"},
		{"h", "", "any:five"},
		{"h", "someone", ""},
	} {
		l, ok := findLogin(text, c.host, c.user)
		if got := l.user + ":" + l.password; ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s %s: %q", c.host, c.user, got)
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine a login b password c", "a")
	f.Add("machine", "")
	f.Add("default password \"", "x")
	f.Add("macdef x\n\nmachine \"a\" password p", "a")
	f.Fuzz(func(t *testing.T, text, host string) {
		if l, ok := findLogin(text, host, ""); ok && (l.password == "" || !strings.Contains(strings.ReplaceAll(text, `\`, ""), strings.ReplaceAll(l.password, `\`, ""))) {
			t.Errorf("%q is not in %q", l.password, text)
		}
	})
}
