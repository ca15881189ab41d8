package localapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"cairn/agent/api"
)

// What the methods do is said at api.Agent.

func (c *Client) Remember(ctx context.Context, d api.Draft) (api.Receipt, error) {
	return invoke[api.Receipt](ctx, c, remember, d)
}

func (c *Client) Ask(ctx context.Context, q api.Query) (api.Answer, error) {
	return invoke[api.Answer](ctx, c, ask, q)
}

func (c *Client) Log(ctx context.Context, q api.Query) (api.Answer, error) {
	return invoke[api.Answer](ctx, c, list, q)
}

func (c *Client) Show(ctx context.Context, ref string, history bool) (api.Shown, error) {
	return invoke[api.Shown](ctx, c, show, showRequest{Ref: ref, History: history})
}

// Export returns the error of fn as it is.
func (c *Client) Export(ctx context.Context, space string, fn func([]byte) error) error {
	// Leaving early must end the work on the other side.
	ctx, done := c.attended(ctx)
	defer done()
	b, err := encode(exportRequest{Space: space})
	if err != nil {
		return err
	}
	resp, err := c.do(ctx, http.MethodPost, methodsPath+export, bytes.NewReader(b))
	if err != nil {
		return asProblem(err)
	}
	defer resp.Body.Close()
	return readItems(ctx, bufio.NewReader(resp.Body), fn)
}

func readItems(ctx context.Context, r io.Reader, fn func([]byte) error) error {
	for {
		kind, b, err := readFrame(r)
		if err != nil {
			return asProblem(lost(ctx, err))
		}
		switch kind {
		case frameEnd:
			return nil
		case frameProblem:
			var f failure
			if err := json.Unmarshal(b, &f); err != nil || f.Error == nil {
				return asProblem(lost(ctx, errors.New("its last word is damaged")))
			}
			return f.Error
		default:
			if err := fn(b); err != nil {
				return err
			}
		}
	}
}

func (c *Client) Digest(ctx context.Context, max int) (string, error) {
	return invoke[string](ctx, c, digest, digestRequest{Max: max})
}

func (c *Client) Status(ctx context.Context) (api.Status, error) {
	return invoke[api.Status](ctx, c, status, nothing{})
}

func (c *Client) Doctor(ctx context.Context, deep bool) (api.Report, error) {
	return invoke[api.Report](ctx, c, doctor, doctorRequest{Deep: deep})
}

func (c *Client) Embed(ctx context.Context) (api.Embedded, error) {
	return invoke[api.Embedded](ctx, c, embedMissing, nothing{})
}

func (c *Client) Refused(ctx context.Context) ([]api.Refusal, error) {
	return invoke[[]api.Refusal](ctx, c, refused, nothing{})
}

func (c *Client) Dismiss(ctx context.Context, ref string) error {
	_, err := invoke[nothing](ctx, c, dismiss, dismissRequest{Ref: ref})
	return err
}

func (c *Client) CreateSpace(ctx context.Context, name string) error {
	_, err := invoke[nothing](ctx, c, createSpace, spaceRequest{Name: name})
	return err
}

func (c *Client) Join(ctx context.Context, invite string) (api.Joined, error) {
	return invoke[api.Joined](ctx, c, join, joinRequest{Invite: invite})
}

func (c *Client) Sync(ctx context.Context, r api.SyncRequest) ([]api.SyncResult, error) {
	return invoke[[]api.SyncResult](ctx, c, syncNow, r)
}

func (c *Client) Remotes(ctx context.Context) ([]api.Remote, error) {
	return invoke[[]api.Remote](ctx, c, remotes, nothing{})
}

func (c *Client) AddRemote(ctx context.Context, r api.Remote) error {
	_, err := invoke[nothing](ctx, c, addRemote, r)
	return err
}

func (c *Client) RemoveRemote(ctx context.Context, space, name string) error {
	_, err := invoke[nothing](ctx, c, removeRemote, remoteRequest{Space: space, Name: name})
	return err
}
