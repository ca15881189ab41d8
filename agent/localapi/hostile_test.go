package localapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

// raw is an HTTP client for the socket of home that knows nothing of methods.
func raw(home paths.Home) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return rawConn(home) },
	}}
}

func post(t *testing.T, home paths.Home, path string, body io.Reader) (int, string) {
	t.Helper()
	resp, err := raw(home).Post("http://cairn"+path, "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestAMalformedRequestIsRefusedWithoutQuotingIt(t *testing.T) {
	t.Parallel()
	far := &fake{}
	home := serve(t, far, localapi.Options{})
	word := "hush"
	for _, body := range []string{
		`{"text":"` + word, word, `[]`, `{"text":{"` + word + `":1}}`, `{"limit":"` + word + `"}`, strings.Repeat("[", 100_000) + word,
	} {
		code, answer := post(t, home, "/v1/ask", strings.NewReader(body))
		if code != http.StatusUnprocessableEntity || !strings.Contains(answer, `"usage"`) || strings.Contains(answer, word) {
			t.Errorf("%.40q: %d %s", body, code, answer)
		}
	}
	if code, _ := post(t, home, "/v1/import", strings.NewReader(word)); code != http.StatusUnprocessableEntity {
		t.Errorf("an import without frames: %d", code)
	}
	if code, _ := post(t, home, "/v1/import", strings.NewReader("i\x00\x00\x00\x02{}")); code != http.StatusUnprocessableEntity {
		t.Errorf("an import that was cut off: %d", code)
	}
	if code, _ := post(t, home, "/v1/import", strings.NewReader("e\x00\x00\x00\x00"+word)); code != http.StatusUnprocessableEntity {
		t.Errorf("an import with more behind its end: %d", code)
	}
	if len(far.calls) != 0 {
		t.Errorf("the agent was called: %v", far.calls)
	}
}

func TestAHugeRequestIsRefusedAndAGreatNoteIsNot(t *testing.T) {
	t.Parallel()
	far := &fake{}
	home := serve(t, far, localapi.Options{})
	code, answer := post(t, home, "/v1/remember", io.LimitReader(endlessly('x'), 40<<20))
	if code != http.StatusUnprocessableEntity || !strings.Contains(answer, `"too_big"`) {
		t.Errorf("40 MiB: %d %.100s", code, answer)
	}
	c := dial(t, home)
	_, err := c.Remember(t.Context(), api.Draft{Payload: &event.Observe{Content: strings.Repeat("x", 17<<20)}})
	if p := problem.Of(err); p == nil || p.Code != problem.TooBig {
		t.Errorf("17 MiB through the client: %v", err)
	}
	if len(far.calls) != 0 {
		t.Error("the agent was asked to save it")
	}
	// Every byte of this text takes six in JSON.
	great := api.Draft{Payload: &event.Observe{Content: strings.Repeat("\x01", event.MaxText)}}
	if _, err := c.Remember(t.Context(), great); err != nil {
		t.Errorf("the greatest note: %v", err)
	}
}

type endlessly byte

func (e endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestGarbageAndVanishingClientsHurtNobodyElse(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	far := &fake{hook: func(ctx context.Context) { close(begun); <-ctx.Done(); close(ended) }}
	home := serve(t, far, localapi.Options{})
	for _, garbage := range []string{"", "\x00\xff\n\r\n\r\n", "POST /v1/ask HTTP/1.1\r\n", "GET / HTTP/9\r\n\r\n", strings.Repeat("a", 1<<20)} {
		conn, err := rawConn(home)
		if err != nil {
			t.Fatal(err)
		}
		// The other side may hang up in the middle of it.
		_, _ = io.WriteString(conn, garbage)
		conn.Close()
	}
	conn, err := rawConn(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /v1/ask HTTP/1.1\r\nHost: cairn\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	<-begun
	conn.Close()
	<-ended // the work of a client that is gone is ended

	if _, err := localapi.Dial(t.Context(), home); err != nil {
		t.Errorf("the next client: %v", err)
	}
}

// A request may end a moment after its last frame. The agent notices that the client is gone all the same.
func TestAnImportWhoseEndComesLateIsCanceledToo(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	far := &fake{hook: func(ctx context.Context) { close(begun); <-ctx.Done(); close(ended) }}
	home := serve(t, far, localapi.Options{})
	conn, err := rawConn(home)
	if err != nil {
		t.Fatal(err)
	}
	const lastFrame = "5\r\ne\x00\x00\x00\x00\r\n"
	if _, err := io.WriteString(conn, "POST /v1/import HTTP/1.1\r\nHost: cairn\r\nTransfer-Encoding: chunked\r\n\r\n"+lastFrame); err != nil {
		t.Fatal(err)
	}
	select {
	case <-begun: // too early, and the wait below would have no end
		t.Error("the import began before its request had ended")
	case <-time.After(100 * time.Millisecond):
	}
	if _, err := io.WriteString(conn, "0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	conn.Close()
	<-ended
}

func TestAPanicIsAnswered(t *testing.T) {
	t.Parallel()
	word := "hush"
	var log bytes.Buffer
	far := &fake{hook: func(context.Context) { panic("about " + word) }}
	c := dial(t, serve(t, far, localapi.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
	for range 3 {
		_, err := c.Digest(t.Context(), 100)
		if p := problem.Of(err); p == nil || p.Code != problem.Failed || strings.Contains(p.Message, word) {
			t.Errorf("got %v", err)
		}
	}
	if strings.Contains(log.String(), word) || !strings.Contains(log.String(), "hostile_test.go") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAnOlderAgentIsToldApartAndCanBeStopped(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version":"0.0.9","pid":42,"home":%q,"protocol":0}`, home)
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}"); close(stopped) })
	srv := &http.Server{Handler: mux}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close(); owner.Release() })

	_, err = localapi.Dial(t.Context(), home)
	if old, ok := errors.AsType[*localapi.ProtocolError](err); !ok || old.Agent.Version != "0.0.9" || old.Agent.PID != 42 {
		t.Fatalf("got %v", err)
	}
	if err := localapi.Stop(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	<-stopped
}

func TestAnAgentIsStoppedOnlyIfItCanBe(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{}, 1)
	home := serve(t, &fake{}, localapi.Options{Stop: func() { stopped <- struct{}{} }})
	if err := localapi.Stop(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	<-stopped
	busy := serve(t, &fake{}, localapi.Options{})
	if p := problem.Of(localapi.Stop(t.Context(), busy)); p == nil || p.Code != problem.Usage {
		t.Errorf("got %v", p)
	}
}

func TestAMethodThatTheAgentDoesNotKnow(t *testing.T) {
	t.Parallel()
	home := serve(t, &fake{}, localapi.Options{})
	if code, _ := post(t, home, "/v1/no-such", nil); code != http.StatusNotFound {
		t.Errorf("code %d", code)
	}
}

func TestNothingButTheRecordAndTheLockStayBehind(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	serveAt(t, home, &fake{}, localapi.Options{})()
	entries, err := os.ReadDir(string(home))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "agent.address "+filepath.Base(home.OwnerLock()) {
		t.Errorf("left: %s", got)
	}
}
