package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

var errStalled = errors.New("nothing came or went for too long")

// postBuffer is up to what size a request is kept in memory and sent with its
// length, as git does: servers that run git as a CGI program want that. A larger
// one is sent as it is made.
const postBuffer = 1 << 20

// An httpStream is the conversation with one service: what it says first, one
// request, and the answer to that.
type httpStream struct {
	host    *httpHost
	ctx     context.Context
	cancel  context.CancelCauseFunc
	service string
	quiet   *time.Timer
	post    string        // where the request goes
	advert  *bytes.Reader // what is left of what the server says first

	buf  []byte         // of the request, until it is sent
	pipe *io.PipeWriter // takes the rest of one that is sent while it is made

	once     sync.Once
	answered chan struct{} // closed when the following are set
	answer   *http.Response
	err      error
}

// maxAdvert bounds what a server may say first.
const maxAdvert = 32 << 20

// advertised reads what the service says first.
func (s *httpStream) advertised() error {
	base := strings.TrimSuffix(s.host.base.String(), "/")
	media := mediaStart + s.service + "-advertisement"
	answer, err := s.host.do(s.ctx, request{method: http.MethodGet, url: base + infoRefs + "?service=" + s.service, accept: media})
	if err != nil {
		return orCanceled(s.ctx, err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != media {
		return &RefusedError{Message: "what answers at " + s.host.base.Host + " is no git server that speaks its smart protocol"}
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAdvert))
	if err != nil {
		return orCanceled(s.ctx, offline("talk to "+s.host.base.Host, err))
	}
	// gitprotocol-http(5): one line and a flush stand before what ssh would say.
	head := fmt.Sprintf("%04x# service=%s\n0000", len("# service=\n")+4+len(s.service), s.service)
	rest, ok := bytes.CutPrefix(said, []byte(head))
	if !ok {
		return &RefusedError{Message: "what answers at " + s.host.base.Host + " does not begin as a git server does"}
	}
	if !isWhole(rest) { // nothing more will come
		return offline("talk to "+s.host.base.Host, io.ErrUnexpectedEOF)
	}
	s.advert = bytes.NewReader(rest)
	s.post = postURL(answer.Request.URL, s.service)
	return nil
}

// isWhole says whether lines of the protocol end with the flush that they should
// end with, and with nothing after it.
func isWhole(lines []byte) bool {
	for len(lines) >= 4 {
		size, err := strconv.ParseUint(string(lines[:4]), 16, 16)
		switch {
		case err != nil || size > 0 && size < 4 || int(size) > len(lines):
			return false
		case size == 0:
			return len(lines) == 4
		}
		lines = lines[size:]
	}
	return false
}

// postURL is beside the place that answered, which may not be the one that was
// asked.
func postURL(answered *url.URL, service string) string {
	u := *answered
	u.RawQuery, u.Path = "", strings.TrimSuffix(u.Path, infoRefs)+"/"+service
	u.RawPath = ""
	return u.String()
}

// orCanceled is why the context ended, if it did.
func orCanceled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

func (s *httpStream) Read(b []byte) (int, error) {
	if s.advert.Len() > 0 {
		return s.advert.Read(b)
	}
	<-s.answered
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.answer.Body.Read(b)
	s.quiet.Reset(stallTimeout)
	if err != nil && err != io.EOF {
		err = orCanceled(s.ctx, offline("talk to "+s.host.base.Host, err))
	}
	return n, err
}

// Write takes a part of the request. CloseWrite ends it.
func (s *httpStream) Write(b []byte) (int, error) {
	s.quiet.Reset(stallTimeout)
	if s.pipe != nil {
		return s.pipe.Write(b)
	}
	s.buf = append(s.buf, b...)
	if len(s.buf) <= postBuffer {
		return len(b), nil
	}
	if err := s.sendOn(); err != nil {
		s.settle(nil, err)
		return 0, err
	}
	return len(b), nil
}

// CloseWrite sends the request, or its end.
func (s *httpStream) CloseWrite() error {
	if s.pipe != nil {
		return s.pipe.Close()
	}
	go func() { s.settle(s.host.do(s.ctx, s.request())) }()
	return nil
}

func (s *httpStream) request() request {
	return request{
		method: http.MethodPost, url: s.post, body: s.buf,
		kind: mediaStart + s.service + "-request", accept: mediaStart + s.service + "-result",
	}
}

// sendOn begins to send a request whose end is not known yet. It cannot be sent
// twice, so an empty one goes first, by which a server can ask for a login.
func (s *httpStream) sendOn() error {
	probe := s.request()
	probe.body = []byte("0000")
	answer, err := s.host.do(s.ctx, probe)
	if err != nil {
		return err
	}
	drain(answer)
	r, w := io.Pipe()
	long := s.request()
	long.stream = io.MultiReader(bytes.NewReader(s.buf), r)
	s.pipe, s.buf = w, nil
	go func() {
		s.settle(s.host.do(s.ctx, long))
		r.CloseWithError(io.ErrClosedPipe) // nobody takes the rest
	}()
	return nil
}

// settle lets Read go on.
func (s *httpStream) settle(answer *http.Response, err error) {
	s.once.Do(func() {
		want := mediaStart + s.service + "-result"
		if err == nil && answer.Header.Get("Content-Type") != want {
			drain(answer)
			err = &RefusedError{Message: s.host.base.Host + " does not answer as a git server does"}
		}
		s.answer, s.err = answer, err
		close(s.answered)
	})
}

// Close ends the conversation wherever it is.
func (s *httpStream) Close() error {
	s.quiet.Stop()
	s.cancel(context.Canceled)
	s.settle(nil, io.ErrClosedPipe)
	if s.err != nil {
		return nil
	}
	return s.answer.Body.Close()
}

// ended is why the conversation stopped before it was done.
func (s *httpStream) ended(ctx context.Context, doing string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	if errors.Is(context.Cause(s.ctx), errStalled) {
		err = errStalled
	}
	return offline(doing, err)
}
