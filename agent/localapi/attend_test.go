package localapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

// freezing serves a home until it is called; from then on it answers nothing,
// as a process that was stopped or whose disk is gone.
func freezing(t *testing.T) paths.Home {
	t.Helper()
	home := paths.Home(t.TempDir())
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	frozen, thawed := make(chan struct{}), make(chan struct{})
	freeze := sync.OnceFunc(func() { close(frozen) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-frozen:
			<-thawed
		default:
			fmt.Fprintf(w, `{"version":"1","pid":1,"home":%q,"protocol":%d}`, home, localapi.Protocol)
		}
	})
	mux.HandleFunc("POST /v1/", func(http.ResponseWriter, *http.Request) { freeze(); <-thawed })
	srv := &http.Server{Handler: mux}
	go srv.Serve(ln)
	t.Cleanup(func() { close(thawed); srv.Close(); owner.Release() })
	return home
}

func TestACallDoesNotWaitForAnAgentThatHangsInTheMiddleOfIt(t *testing.T) {
	t.Parallel()
	draft := api.Draft{Payload: &event.Observe{Content: "x"}}
	for name, call := range map[string]func(context.Context, *localapi.Client) error{
		"remember": func(ctx context.Context, c *localapi.Client) error { _, err := c.Remember(ctx, draft); return err },
		"import": func(ctx context.Context, c *localapi.Client) error {
			_, err := c.Import(ctx, []api.Draft{draft})
			return err
		},
		"export": func(ctx context.Context, c *localapi.Client) error {
			return c.Export(ctx, "", func([]byte) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := localapi.DialWith(t.Context(), freezing(t), 200*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = call(t.Context(), c)
			if p := problem.Of(err); !errors.Is(err, localapi.ErrHung) || p.Code != problem.Busy || p.Hint == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnAgentMayTakeItsTimeForACall(t *testing.T) {
	t.Parallel()
	patience := 200 * time.Millisecond
	far := &fake{hook: func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-time.After(5 * patience):
		}
	}}
	c, err := localapi.DialWith(t.Context(), serve(t, far, localapi.Options{}), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Digest(t.Context(), 100); err != nil {
		t.Errorf("a call that takes longer than the answer to a ping: %v", err)
	}
}
