package localapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"cairn/agent/api"
	"cairn/internal/problem"
)

// methods is the other side of the methods of Client.
func methods(a api.Agent) map[string]http.Handler {
	return map[string]http.Handler{
		remember:   call(a.Remember),
		importMany: importStream(a),
		ask:        call(a.Ask),
		list:       call(a.Log),
		show: call(func(ctx context.Context, in showRequest) (api.Shown, error) {
			return a.Show(ctx, in.Ref, in.History)
		}),
		export: exportStream(a),
		digest: call(func(ctx context.Context, in digestRequest) (string, error) {
			return a.Digest(ctx, in.Max)
		}),
		status: call(func(ctx context.Context, _ nothing) (api.Status, error) {
			return a.Status(ctx)
		}),
		doctor: call(func(ctx context.Context, in doctorRequest) (api.Report, error) {
			return a.Doctor(ctx, in.Deep)
		}),
		embedMissing: call(func(ctx context.Context, _ nothing) (api.Embedded, error) {
			return a.Embed(ctx)
		}),
		refused: call(func(ctx context.Context, _ nothing) ([]api.Refusal, error) {
			return a.Refused(ctx)
		}),
		dismiss: call(func(ctx context.Context, in dismissRequest) (nothing, error) {
			return nothing{}, a.Dismiss(ctx, in.Ref)
		}),
		createSpace: call(func(ctx context.Context, in spaceRequest) (nothing, error) {
			return nothing{}, a.CreateSpace(ctx, in.Name)
		}),
		join: call(func(ctx context.Context, in joinRequest) (api.Joined, error) {
			return a.Join(ctx, in.Invite)
		}),
		syncNow: call(a.Sync),
		remotes: call(func(ctx context.Context, _ nothing) ([]api.Remote, error) {
			return a.Remotes(ctx)
		}),
		addRemote: call(func(ctx context.Context, in api.Remote) (nothing, error) {
			return nothing{}, a.AddRemote(ctx, in)
		}),
		removeRemote: call(func(ctx context.Context, in remoteRequest) (nothing, error) {
			return nothing{}, a.RemoveRemote(ctx, in.Space, in.Name)
		}),
	}
}

// importStream reads one draft a frame and then imports them all at once, so
// that an import of any size is one import to the agent.
func importStream(a api.Agent) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		drafts, err := readDrafts(bufio.NewReader(r.Body))
		if err != nil {
			fail(w, err)
			return
		}
		results, err := a.Import(r.Context(), drafts)
		if err != nil {
			fail(w, err)
			return
		}
		writeJSON(w, http.StatusOK, results)
	})
}

func readDrafts(r *bufio.Reader) ([]api.Draft, error) {
	drafts := []api.Draft{}
	for {
		kind, b, err := readFrame(r)
		if err != nil {
			return nil, &problem.Problem{Code: problem.Usage, Message: err.Error() + ": nothing was imported", Err: err}
		}
		if kind != frameItem {
			return drafts, atEnd(r)
		}
		var d api.Draft
		if json.Unmarshal(b, &d) != nil {
			return nil, malformed()
		}
		drafts = append(drafts, d)
	}
}

// atEnd reads the end of the request. Until that is read, net/http does not watch whether the client is still there.
func atEnd(r io.Reader) error {
	n, err := io.CopyN(io.Discard, r, 1)
	switch {
	case n > 0:
		return malformed()
	case errors.Is(err, io.EOF):
		return nil
	}
	return &problem.Problem{Code: problem.Usage, Message: "the request has no end: nothing was imported", Err: err}
}

// exportStream sends one event a frame, as the agent finds them.
func exportStream(a api.Agent) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in exportRequest
		if err := readJSON(w, r, &in); err != nil {
			fail(w, err)
			return
		}
		out := bufio.NewWriter(w)
		err := a.Export(r.Context(), in.Space, func(b []byte) error { return writeFrame(out, frameItem, b) })
		// A client that is gone sees a stream that was cut off; nobody else has
		// to know.
		_ = endStream(out, err)
	})
}

// endStream tells the other side how the work ended.
func endStream(out *bufio.Writer, ended error) error {
	kind, last := byte(frameEnd), []byte(nil)
	if ended != nil {
		b, err := json.Marshal(failure{problem.Of(ended)})
		if err != nil {
			return fmt.Errorf("write a problem: %w", err)
		}
		kind, last = frameProblem, b
	}
	if err := writeFrame(out, kind, last); err != nil {
		return err
	}
	return out.Flush()
}
