package localapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// serve runs an agent for a new home until the test ends.
func serve(t *testing.T, a api.Agent, opts localapi.Options) paths.Home {
	t.Helper()
	home := paths.Home(t.TempDir())
	serveAt(t, home, a, opts)
	return home
}

// serveAt returns the function that ends the agent; the end of the test is
// the latest.
func serveAt(t *testing.T, home paths.Home, a api.Agent, opts localapi.Options) (end func()) {
	t.Helper()
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Log == nil {
		opts.Log = quiet
	}
	opts.Info.Home = string(home)
	srv := localapi.NewServer(a, opts)
	done := make(chan struct{})
	go func() { srv.Serve(ln); close(done) }()
	end = sync.OnceFunc(func() {
		srv.Close()
		<-done
		if err := owner.Release(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

func dial(t *testing.T, home paths.Home) *localapi.Client {
	t.Helper()
	c, err := localapi.Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A method calls one method of an agent with arguments worth carrying.
type method func(context.Context, api.Agent) (any, error)

func only(err error) (any, error) { return nil, err }

var aDraft = api.Draft{
	Space: "team", Actor: event.Actor{Kind: event.ActorAgent, ID: "codex", Harness: "codex"}, Parent: "~k3m9x2p", Chain: anID,
	Layer: event.LayerWorking, Authority: &event.Authority{Source: "user", AttestedBy: "ana"}, Classification: event.Private,
	Project: "p", Tags: []string{"t"}, Key: "k", Observed: &event.Time{Time: aMoment}, Historic: true, Stored: []byte("\xff\x00"),
	Payload: &event.Claim{SchemaType: "fact", Key: "k", Content: "a\u2028b", Supersedes: anID, SupportRefs: []event.Support{}},
}

var aQuery = api.Query{Text: "wörd \"quoted\" <&>", Limit: 5, All: true, Prefix: true, Filter: api.Filter{
	Space: "s", Kind: event.KindLesson, Subject: "a/b", Tags: []string{"t"}, Harness: "h", Device: "d", Actor: "a", Project: "p",
	Since: &event.Time{Time: aMoment}, Until: &event.Time{Time: aMoment},
}}

var agentMethods = map[string]method{
	"Remember": func(ctx context.Context, a api.Agent) (any, error) { return a.Remember(ctx, aDraft) },
	"Import": func(ctx context.Context, a api.Agent) (any, error) {
		return a.Import(ctx, []api.Draft{aDraft, {Space: "personal", Payload: &event.Observe{Content: "x"}}, {Stored: []byte("{}")}})
	},
	"Ask":  func(ctx context.Context, a api.Agent) (any, error) { return a.Ask(ctx, aQuery) },
	"Log":  func(ctx context.Context, a api.Agent) (any, error) { return a.Log(ctx, aQuery) },
	"Show": func(ctx context.Context, a api.Agent) (any, error) { return a.Show(ctx, "~k3m9x2p", true) },
	"Export": func(ctx context.Context, a api.Agent) (any, error) {
		var got [][]byte
		err := a.Export(ctx, "team", func(b []byte) error { got = append(got, b); return nil })
		return got, err
	},
	"Digest":      func(ctx context.Context, a api.Agent) (any, error) { return a.Digest(ctx, 4096) },
	"Status":      func(ctx context.Context, a api.Agent) (any, error) { return a.Status(ctx) },
	"Doctor":      func(ctx context.Context, a api.Agent) (any, error) { return a.Doctor(ctx, true) },
	"Embed":       func(ctx context.Context, a api.Agent) (any, error) { return a.Embed(ctx) },
	"Refused":     func(ctx context.Context, a api.Agent) (any, error) { return a.Refused(ctx) },
	"Dismiss":     func(ctx context.Context, a api.Agent) (any, error) { return only(a.Dismiss(ctx, "~k3m9x2p")) },
	"CreateSpace": func(ctx context.Context, a api.Agent) (any, error) { return only(a.CreateSpace(ctx, "team")) },
	"Join":        func(ctx context.Context, a api.Agent) (any, error) { return a.Join(ctx, "cairn-invite") },
	"Sync": func(ctx context.Context, a api.Agent) (any, error) {
		return a.Sync(ctx, api.SyncRequest{Space: "s", Remote: "r", Direction: api.PushOnly})
	},
	"Remotes":   func(ctx context.Context, a api.Agent) (any, error) { return a.Remotes(ctx) },
	"AddRemote": func(ctx context.Context, a api.Agent) (any, error) { return only(a.AddRemote(ctx, aRemote)) },
	"RemoveRemote": func(ctx context.Context, a api.Agent) (any, error) {
		return only(a.RemoveRemote(ctx, "team", "origin"))
	},
}

func TestEveryMethodOfAnAgentIsTried(t *testing.T) {
	t.Parallel()
	agent := reflect.TypeFor[api.Agent]()
	for i := range agent.NumMethod() {
		if name := agent.Method(i).Name; agentMethods[name] == nil {
			t.Errorf("%s is not in agentMethods", name)
		}
	}
}

func TestAClientAnswersAsTheAgentItself(t *testing.T) {
	t.Parallel()
	for name, call := range agentMethods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := [][]byte{[]byte("{\n \"a\": 1\n}\n"), {}, []byte("\xff")}
			near, far := &fake{items: items}, &fake{items: items}
			want, err := call(t.Context(), near)
			if err != nil {
				t.Fatal(err)
			}
			got, err := call(t.Context(), dial(t, serve(t, far, localapi.Options{})))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("answered\n%+v, want\n%+v", got, want)
			}
			if !reflect.DeepEqual(far.calls, near.calls) {
				t.Errorf("the agent was called with\n%+v, want\n%+v", far.calls, near.calls)
			}
		})
	}
}

func TestAProblemCrossesTheSocketWhole(t *testing.T) {
	t.Parallel()
	far := &fake{err: fmt.Errorf("remember: %w", &aProblem)}
	c := dial(t, serve(t, far, localapi.Options{}))
	for name, call := range agentMethods {
		_, err := call(t.Context(), c)
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || *p != aProblem {
			t.Errorf("%s: got %#v, want %#v", name, err, aProblem)
		}
	}
}

func TestAnUnexpectedErrorBecomesAProblem(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &fake{err: io.ErrShortWrite}, localapi.Options{}))
	_, err := c.Status(t.Context())
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Failed || p.Message != "short write" {
		t.Errorf("got %#v", err)
	}
}

func TestACanceledCallEndsTheWork(t *testing.T) {
	t.Parallel()
	for name, call := range agentMethods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, ended := make(chan struct{}), make(chan struct{})
			far := &fake{hook: func(ctx context.Context) { close(begun); <-ctx.Done(); close(ended) }}
			c := dial(t, serve(t, far, localapi.Options{}))
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-begun; cancel() }()
			_, err := call(ctx, c)
			if _, ok := errors.AsType[*problem.Problem](err); !ok || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want a problem around context.Canceled", err)
			}
			<-ended
		})
	}
}

func TestManyCallAtOnce(t *testing.T) {
	t.Parallel()
	far := &fake{}
	home := serve(t, far, localapi.Options{})
	shared := dial(t, home)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			c := shared
			if i%2 == 0 {
				own, err := localapi.Dial(t.Context(), home)
				if err != nil {
					t.Error(err)
					return
				}
				defer own.Close()
				c = own
			}
			q := api.Query{Text: fmt.Sprint("question ", i)}
			if a, err := c.Ask(t.Context(), q); err != nil || a.Query != q.Text {
				t.Errorf("asked %q: %q, %v", q.Text, a.Query, err)
			}
		})
	}
	wg.Wait()
	if len(far.calls) != 64 {
		t.Errorf("the agent was asked %d times", len(far.calls))
	}
}

func TestBadTextIsRefusedAndNotRepaired(t *testing.T) {
	t.Parallel()
	far := &fake{}
	c := dial(t, serve(t, far, localapi.Options{}))
	bad := "caf\xe9"
	drafts := map[string]api.Draft{
		"payload.content":                 {Payload: &event.Observe{Content: bad}},
		"payload.support_refs[0].excerpt": {Payload: &event.Claim{SupportRefs: []event.Support{{Excerpt: bad}}}},
		"tags[1]":                         {Payload: &event.Observe{}, Tags: []string{"ok", bad}},
		"actor.id":                        {Payload: &event.Observe{}, Actor: event.Actor{ID: bad}},
		"key":                             {Payload: &event.Observe{}, Key: bad},
	}
	for field, d := range drafts {
		_, err := c.Remember(t.Context(), d)
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Code != problem.NotUTF8 || p.Field != field || strings.Contains(p.Message, "caf") {
			t.Errorf("%s: got %#v", field, err)
		}
	}
	if len(far.calls) != 0 {
		t.Errorf("the agent was asked to save %v", far.calls)
	}
}
