package replica

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// An httpHost is a repository behind git's smart HTTP protocol, version 0: one
// request for what is there, a second one for the rest. Nothing is kept between
// them but how to log in.
type httpHost struct {
	base   *url.URL // without a password
	client *http.Client
	logins loginSource

	mu    sync.Mutex
	login *login // that was good last time; nil for none
}

var (
	errInsecure = errors.New("notes would be readable on their way: use https, or ssh")
	errLoginURL = errors.New("a password in an address is stored and shown with it: leave it out, and let git's credential helper or ~/.netrc hold it")
)

// parseHTTP reads https://host/path; http only for this machine itself.
func parseHTTP(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || len(u.Path) < 2 || u.RawQuery != "" || u.Fragment != "" {
		return nil, errAddress
	}
	if _, has := u.User.Password(); has {
		return nil, errLoginURL
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, errInsecure
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// How long the steps of a request may take.
const (
	answerTimeout = 5 * time.Minute // until a server that works begins to answer
	stallTimeout  = 2 * time.Minute // without a byte in either direction
)

func newHTTPHost(base *url.URL, logins loginSource) *httpHost {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	t.ResponseHeaderTimeout = answerTimeout
	h := &httpHost{base: base, logins: logins}
	h.client = &http.Client{Transport: t, CheckRedirect: h.redirected}
	return h
}

// maxRedirects is how often a server may name another place for a repository.
const maxRedirects = 5

// redirected follows a server to another path of its own. A login is never
// taken to another host, nor is what is sent.
func (h *httpHost) redirected(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case first.Method != http.MethodGet || len(before) > maxRedirects:
		return &RefusedError{Message: h.base.Host + " names other places for the repository again and again"}
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return &RefusedError{Message: h.base.Host + " says that the repository has moved to " + next.URL.Host + ": add a remote with the new address"}
	}
	return nil
}

// The words of the protocol; gitprotocol-http(5). Some servers look at the agent
// to tell git from a browser.
const (
	userAgent  = "git/2.0 (cairn/1)"
	infoRefs   = "/info/refs"
	mediaStart = "application/x-"
)

// open asks for what a service has to say first.
func (h *httpHost) open(ctx context.Context, service string) (stream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &httpStream{host: h, ctx: ctx, cancel: cancel, service: service, answered: make(chan struct{})}
	s.quiet = time.AfterFunc(stallTimeout, func() { cancel(errStalled) })
	if err := s.advertised(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// A request is what is asked; it can be asked again with a login.
type request struct {
	method, url string
	accept      string
	kind        string // content type of the body
	body        []byte
	stream      io.Reader // instead of body: cannot be sent again
}

// do asks, and logs in if that is called for. Errors: *RefusedError,
// ErrOffline, ctx's. The caller closes the answer's body.
func (h *httpHost) do(ctx context.Context, r request) (*http.Response, error) {
	answer, err := h.send(ctx, r, h.kept())
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return h.judge(answer, err)
	}
	drain(answer)
	h.keep(nil)
	if r.stream != nil {
		return nil, h.loginRefused()
	}
	for l := range h.logins.logins(ctx, h.base) {
		answer, err := h.send(ctx, r, &l)
		if err != nil || answer.StatusCode != http.StatusUnauthorized {
			if err == nil {
				h.keep(&l)
			}
			return h.judge(answer, err)
		}
		drain(answer)
	}
	return nil, h.loginRefused()
}

func (h *httpHost) kept() *login {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.login
}

func (h *httpHost) keep(l *login) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.login = l
}

func (h *httpHost) loginRefused() error {
	return &RefusedError{Message: h.base.Host + " wants a login that it takes: no credential helper of git, ~/.netrc or CAIRN_NETRC has one"}
}

func (h *httpHost) send(ctx context.Context, r request, l *login) (*http.Response, error) {
	body, encoding := r.stream, ""
	if body == nil {
		var packed []byte
		packed, encoding = squeezed(r)
		body = bytes.NewReader(packed)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, body)
	if err != nil {
		return nil, errAddress // the text of err holds the address
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", r.accept)
	if r.kind != "" {
		req.Header.Set("Content-Type", r.kind)
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	if l != nil {
		req.SetBasicAuth(l.user, l.password)
	}
	return h.client.Do(req)
}

// worthSqueezing is from what size it pays to compress the request of a fetch.
const worthSqueezing = 256

// squeezed is the body as it is sent. A pack is compressed already.
func squeezed(r request) (body []byte, encoding string) {
	if len(r.body) < worthSqueezing || !strings.Contains(r.kind, "upload-pack") {
		return r.body, ""
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	// A bytes.Buffer takes everything.
	z.Write(r.body)
	z.Close()
	return b.Bytes(), "gzip"
}

// drain lets the connection be used again.
func drain(answer *http.Response) {
	io.CopyN(io.Discard, answer.Body, 64<<10)
	answer.Body.Close()
}

// judge says what an answer means that is none of git's.
func (h *httpHost) judge(answer *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, h.unreached(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer drain(answer)
	switch code := answer.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return nil, &RefusedError{Message: h.base.Host + " has no such repository, or does not show it to this login"}
	case code == http.StatusForbidden:
		return nil, &RefusedError{Message: h.base.Host + " does not allow this login to do that"}
	case code == http.StatusRequestEntityTooLarge:
		return nil, &RefusedError{Message: h.base.Host + " takes no push of this size"}
	case code == http.StatusTooManyRequests || code >= 500:
		return nil, offline("talk to "+h.base.Host, fmt.Errorf("it answers with status %d", code))
	default:
		return nil, &RefusedError{Message: fmt.Sprintf("%s answers with status %d", h.base.Host, code)}
	}
}

// unreached says why there was no answer, without the address, in which people
// put what should not be shown.
func (h *httpHost) unreached(err error) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &RefusedError{Message: h.base.Host + " does not prove who it is: " + bad.Err.Error()}
	}
	return offline("reach "+h.base.Host, err)
}
