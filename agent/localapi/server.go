package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"cairn/agent/api"
	"cairn/internal/problem"
)

// Options are what a server needs besides the agent.
type Options struct {
	Info Info
	// Stop is called when a client asks this process to end, at most once per
	// request and before the answer. Nil means that it ends by itself only.
	Stop func()
	// Log takes what went wrong here; nil means slog.Default.
	Log *slog.Logger
}

// NewServer is a server for the listener of an Owner. The caller runs Serve
// and Shutdown, and may set ConnState to count who is there.
func NewServer(agent api.Agent, opts Options) *http.Server {
	h := Handler(agent, opts)
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger(opts).Handler(), slog.LevelDebug),
	}
}

// Handler answers for agent. It is safe for concurrent use.
func Handler(agent api.Agent, opts Options) http.Handler {
	opts.Info.Protocol = protocol
	mux := http.NewServeMux()
	mux.Handle("GET "+pingPath, call(func(context.Context, nothing) (Info, error) { return opts.Info, nil }))
	mux.Handle("POST "+stopPath, call(func(context.Context, nothing) (nothing, error) { return nothing{}, stop(opts.Stop) }))
	for name, h := range methods(agent) {
		mux.Handle("POST "+methodsPath+name, h)
	}
	return recovered(mux, logger(opts))
}

func logger(opts Options) *slog.Logger {
	if opts.Log == nil {
		return slog.Default()
	}
	return opts.Log
}

func stop(fn func()) error {
	if fn == nil {
		return problem.New(problem.Usage, "this process serves the home while it works and ends by itself")
	}
	fn()
	return nil
}

// recovered turns a panic into an answer, or cuts the connection if the answer
// had begun. What was panicked with may hold a memory's text, so only its type
// is logged.
func recovered(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &watched{ResponseWriter: w}
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			log.Error("a request failed inside", "path", r.URL.Path, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			if answer.begun {
				panic(http.ErrAbortHandler)
			}
			fail(w, problem.New(problem.Failed, "the agent failed inside; its log says where"))
		}()
		next.ServeHTTP(answer, r)
	})
}

// watched knows whether the answer has begun.
type watched struct {
	http.ResponseWriter
	begun bool
}

func (w *watched) WriteHeader(code int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(code)
}

func (w *watched) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// call is the handler of a method that takes one value and returns one.
func call[In, Out any](fn func(context.Context, In) (Out, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := readJSON(w, r, &in); err != nil {
			fail(w, err)
			return
		}
		out, err := fn(r.Context(), in)
		if err != nil {
			fail(w, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	})
}

// readJSON reads a whole request; an empty one leaves into as it is.
func readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.New(problem.TooBig, fmt.Sprintf("the request is over the limit of %d bytes: nothing was done", tooBig.Limit))
	}
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if len(b) == 0 {
		return nil
	}
	if json.Unmarshal(b, into) != nil {
		return malformed() // the JSON package would quote the request
	}
	return nil
}

func malformed() error {
	return problem.New(problem.Usage, "the request is not in the form of this method: nothing was done")
}

func fail(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusUnprocessableEntity, failure{problem.Of(err)})
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		code, b = http.StatusUnprocessableEntity, []byte(`{"error":{"code":"failed","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// A client that is gone is told nothing, and nobody else wants to know.
	_, _ = w.Write(b)
}
