package localapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"cairn/internal/paths"
	"cairn/internal/problem"
)

// pingPatience is how long an owner may take to say who it is. A healthy one
// takes microseconds; this leaves room for a machine under heavy load.
const pingPatience = 2 * time.Second

// A Client is the agent of a home in another process. It keeps connections
// open while nobody calls, so that the agent knows that somebody is there,
// and follows an agent that ends and is started again. It is safe for
// concurrent use.
//
// Besides what the agent itself answers, the errors of its methods are a
// *problem.Problem around ErrAbsent, ErrHung, ErrForeign, ErrLost, a
// *ProtocolError or the error of the context.
type Client struct {
	home     paths.Home
	http     *http.Client
	patience time.Duration
	agent    Info
}

// Dial finds the agent of home and asks who it is. The caller closes the
// client. Errors: ErrAbsent, ErrHung, ErrForeign, *ProtocolError, that of ctx
// or one of the system.
func Dial(ctx context.Context, home paths.Home) (*Client, error) {
	return open(ctx, home, pingPatience)
}

func open(ctx context.Context, home paths.Home, patience time.Duration) (*Client, error) {
	c := newClient(home, patience)
	agent, err := c.Ping(ctx)
	if err == nil && agent.Protocol != protocol {
		err = &ProtocolError{Agent: agent}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.agent = agent
	return c, nil
}

func newClient(home paths.Home, patience time.Duration) *Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return connect(ctx, home)
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 4,
	}
	return &Client{home: home, http: &http.Client{Transport: transport}, patience: patience}
}

// Stop asks whatever agent serves home to end, of any version. It returns
// when the agent has agreed, which is before it has ended. Errors as for
// Dial, except *ProtocolError.
func Stop(ctx context.Context, home paths.Home) error {
	c := newClient(home, pingPatience)
	defer c.Close()
	if _, err := c.Ping(ctx); err != nil {
		return err
	}
	_, err := request[nothing](ctx, c, http.MethodPost, stopPath, nil)
	return err
}

// Close lets go of the connections. Calls that are running end as they would
// have.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Agent is what the agent said of itself when it was dialed. A caller that is
// newer than it may want to Stop it and start another.
func (c *Client) Agent() Info { return c.agent }

// Ping asks the agent who it is. Errors as for Dial, except *ProtocolError.
func (c *Client) Ping(ctx context.Context) (Info, error) {
	pinged, cancel := context.WithTimeoutCause(ctx, c.patience, ErrHung)
	defer cancel()
	agent, err := request[Info](pinged, c, http.MethodGet, pingPath, nil)
	switch {
	case err == nil && !sameHome(c.home, agent):
		return Info{}, ErrAbsent
	case errors.Is(err, ErrLost): // it was ending: a killed process listens until it is gone
		return Info{}, fmt.Errorf("%w (%w)", ErrAbsent, err)
	case err != nil && errors.Is(context.Cause(pinged), ErrHung):
		return Info{}, ErrHung
	}
	return agent, err
}

// Alive says whether the agent answers.
func (c *Client) Alive(ctx context.Context) bool {
	_, err := c.Ping(ctx)
	return err == nil
}

// invoke calls a method with one value and returns what it answers.
func invoke[Out any](ctx context.Context, c *Client, method string, in any) (Out, error) {
	b, err := encode(in)
	if err != nil {
		var none Out
		return none, err
	}
	ctx, done := c.attended(ctx)
	defer done()
	out, err := request[Out](ctx, c, http.MethodPost, methodsPath+method, bytes.NewReader(b))
	return out, asProblem(err)
}

func request[Out any](ctx context.Context, c *Client, verb, path string, body io.Reader) (Out, error) {
	var out Out
	resp, err := c.do(ctx, verb, path, body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	// To its end, or the connection could not be used again.
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return out, lost(ctx, err)
	}
	return out, nil
}

// do sends a request. The answer it returns is a good one; the caller closes
// its body.
func (c *Client) do(ctx context.Context, verb, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, verb, "http://cairn"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, sendError(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.answeredError(ctx, resp)
}

// answeredError is the problem in an answer, or the sign of an agent that
// does not know what we asked for.
func (c *Client) answeredError(ctx context.Context, resp *http.Response) error {
	if resp.StatusCode != http.StatusUnprocessableEntity {
		return &ProtocolError{Agent: c.agent}
	}
	var f failure
	if err := json.NewDecoder(resp.Body).Decode(&f); err != nil {
		return lost(ctx, err)
	}
	if f.Error == nil {
		return &ProtocolError{Agent: c.agent}
	}
	return f.Error
}

// sendError sorts what can happen before an answer has begun.
func sendError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it names an address that nobody has heard of
	}
	op, ok := errors.AsType[*net.OpError](err)
	dialing := ok && op.Op == "dial"
	if dialing || errors.Is(err, ErrAbsent) || errors.Is(err, ErrHung) || errors.Is(err, ErrForeign) {
		return err
	}
	return lost(ctx, err)
}

// lost is the error for an exchange that broke off: because our side gave up,
// or the agent did.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w (%w)", ErrLost, err)
}

// asProblem gives err the form that every method of an api.Agent promises.
func asProblem(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*problem.Problem](err); ok {
		return err
	}
	p := &problem.Problem{Code: problem.Busy, Message: err.Error(), Err: err}
	if errors.Is(err, ErrLost) || errors.Is(err, ErrHung) {
		p.Hint = "try again: a note that was saved is not saved twice"
	}
	if _, ok := errors.AsType[*ProtocolError](err); ok {
		p.Code = problem.Failed
	}
	return p
}
