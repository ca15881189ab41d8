package localapi_test

import (
	"context"
	"sync"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

// A fake is an agent that remembers how it was called, and answers with
// values in which every member is set.
type fake struct {
	mu    sync.Mutex
	calls []any
	err   error                 // what every method fails with
	hook  func(context.Context) // runs inside every call
	items [][]byte              // what Export delivers
}

// called notes the arguments of a call and returns the error for it.
func (f *fake) called(ctx context.Context, args ...any) error {
	f.mu.Lock()
	f.calls = append(f.calls, args)
	f.mu.Unlock()
	if f.hook != nil {
		f.hook(ctx)
	}
	return f.err
}

// answer is v unless the call fails.
func answer[T any](v T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

const anID = event.ID("01jz0000000000000000k3m9x2")

var (
	aMoment = event.ID("01jz00000000000000000000k3").Time()
	aHit    = api.Hit{
		ID: anID, Space: "team", Kind: event.KindObserve, Title: "Ünï <&>", Text: "line\nline\u2028\t\"", Snippet: "…line…",
		Tags: []string{"a", "b"}, Score: 0.1 + 0.2, Recorded: event.NewTime(aMoment), Observed: event.NewTime(aMoment), Harness: "codex",
		Device: "laptop", Actor: "ana", Project: "x", State: api.Superseded, SupersededBy: anID, Verdict: "refuted", Newer: true,
	}
	aRefusal = api.Refusal{ID: anID, At: event.NewTime(aMoment), Space: "team", Kind: event.KindClaim, By: "hub", Rule: "r", Field: "f", Hint: "h"}
	aRemote  = api.Remote{Space: "team", Name: "origin", URL: "ssh://hub.example/team", Hub: true}
	aProblem = problem.Problem{Code: problem.Secret, Message: "refused", Rule: "a-rule", Field: "payload.content", Hint: "take it out"}
)

func (f *fake) Remember(ctx context.Context, d api.Draft) (api.Receipt, error) {
	return answer(api.Receipt{ID: anID, Space: "team", Kind: event.KindPref, Commit: "c", State: api.Indexed, Duplicate: true}, f.called(ctx, d))
}

func (f *fake) Import(ctx context.Context, d []api.Draft) ([]api.ImportResult, error) {
	err := f.called(ctx, d)
	out := make([]api.ImportResult, len(d))
	for i := range d {
		out[i].Receipt.Space = d[i].Space
	}
	return answer(out, err)
}

func (f *fake) Ask(ctx context.Context, q api.Query) (api.Answer, error) {
	return answer(api.Answer{Query: q.Text, TookUS: 7, Total: 9, Hits: []api.Hit{aHit, {}}, Note: "n"}, f.called(ctx, q))
}

func (f *fake) Log(ctx context.Context, q api.Query) (api.Answer, error) {
	return answer(api.Answer{Hits: []api.Hit{}}, f.called(ctx, q))
}

func (f *fake) Show(ctx context.Context, ref string, history bool) (api.Shown, error) {
	s := api.Shown{Raw: []byte("{\n \"a\": \"\xff<&>\"\n}\n"), Hit: aHit, Commit: "c", State: api.Live, Signature: "good", Device: "d", History: []api.Hit{aHit}}
	return answer(s, f.called(ctx, ref, history))
}

func (f *fake) Export(ctx context.Context, space string, fn func([]byte) error) error {
	err := f.called(ctx, space)
	for _, b := range f.items {
		if err := fn(b); err != nil {
			return err
		}
	}
	return err
}

func (f *fake) Digest(ctx context.Context, max int) (string, error) {
	return answer("- ~k3m9x2p a title\n", f.called(ctx, max))
}

func (f *fake) Status(ctx context.Context) (api.Status, error) {
	last := event.NewTime(aMoment)
	space := api.SpaceStatus{Name: "team", Head: "h", Events: 1, Indexed: 2, Ahead: 3, Behind: 4, LastSync: &last, LastError: "e", Remote: "r"}
	s := api.Status{Home: "/h", Agent: api.Process{Running: true, Version: "1", PID: 2}, Hub: "hub", Device: "d", Spaces: []api.SpaceStatus{space, {}}, Refused: 3}
	return answer(s, f.called(ctx))
}

func (f *fake) Doctor(ctx context.Context, deep bool) (api.Report, error) {
	return answer(api.Report{OK: true, Checks: []api.Check{{Name: "n", OK: true, Detail: "d", Fix: "f"}}}, f.called(ctx, deep))
}

func (f *fake) Embed(ctx context.Context) (api.Embedded, error) {
	return answer(api.Embedded{Embedder: "e", Notes: 3, Made: 2, Unknown: 1}, f.called(ctx))
}

func (f *fake) Refused(ctx context.Context) ([]api.Refusal, error) {
	return answer([]api.Refusal{aRefusal}, f.called(ctx))
}

func (f *fake) Dismiss(ctx context.Context, ref string) error { return f.called(ctx, ref) }

func (f *fake) CreateSpace(ctx context.Context, name string) error { return f.called(ctx, name) }

func (f *fake) Join(ctx context.Context, invite string) (api.Joined, error) {
	return answer(api.Joined{Hub: "h", Person: "p", Device: "d", Spaces: []string{"a"}}, f.called(ctx, invite))
}

func (f *fake) Sync(ctx context.Context, r api.SyncRequest) ([]api.SyncResult, error) {
	result := api.SyncResult{Space: "s", Remote: "r", Pushed: 1, Pulled: 2, Refused: []api.Refusal{aRefusal}, Problem: &aProblem}
	return answer([]api.SyncResult{result}, f.called(ctx, r))
}

func (f *fake) Remotes(ctx context.Context) ([]api.Remote, error) {
	return answer([]api.Remote{aRemote}, f.called(ctx))
}

func (f *fake) AddRemote(ctx context.Context, r api.Remote) error { return f.called(ctx, r) }

func (f *fake) RemoveRemote(ctx context.Context, space, name string) error {
	return f.called(ctx, space, name)
}
