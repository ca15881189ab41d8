package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cairn/internal/disk"
	"cairn/internal/problem"
	"cairn/policy"
)

// errSilent ends a command with exit code 1 after it has said everything.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// finish prints err, if any, and returns the exit code: the one table from
// problems to codes is problem.Code.ExitCode.
func (a *app) finish(err error) int {
	if err == nil {
		return 0
	}
	if s, ok := errors.AsType[*silentError](err); ok {
		return s.code
	}
	p := problem.Of(err)
	if errors.Is(err, context.Canceled) && p.Code == problem.Failed {
		p = problem.New(problem.Failed, "stopped before it was done")
	}
	if p.Hint == "" {
		p.Hint = denied(err)
	}
	p = discreet(p)
	if a.json {
		writeJSON(a.env.Stdout, map[string]any{"error": p})
		return p.Code.ExitCode()
	}
	fmt.Fprintln(a.env.Stderr, "cairn: "+harmless(p.Message))
	if p.Rule != "" {
		fmt.Fprintln(a.env.Stderr, "  rule: "+p.Rule)
	}
	if p.Field != "" {
		fmt.Fprintln(a.env.Stderr, "  field: "+p.Field)
	}
	if p.Hint != "" {
		fmt.Fprintln(a.env.Stderr, "  "+harmless(p.Hint))
	}
	return p.Code.ExitCode()
}

// denied is what to do about a home that cannot be opened, if that is why err
// came, or "".
func denied(err error) string {
	switch {
	case disk.ReadOnly(err):
		return "what was saved before is safe; the agent needs a disk that it can write to: mount it for writing, or name another folder with CAIRN_HOME or --home"
	case errors.Is(err, fs.ErrPermission):
		return "see who owns that folder and may write to it, or name another one with CAIRN_HOME or --home"
	}
	return ""
}

// discreet is p, but for a message that repeats what was typed and in which
// the gate sees a secret: a key given in the wrong place would be printed, and
// end up in a log or before a model.
func discreet(p *problem.Problem) *problem.Problem {
	if p.Code != problem.Usage && p.Code != problem.NotFound {
		return p
	}
	if len(policy.Default().DecideRaw(policy.Ref, []byte(p.Message))) == 0 {
		return p
	}
	q := problem.New(p.Code, "this is not understood; it holds what looks like a secret and is not repeated here")
	q.Hint = p.Hint
	return q
}

// print writes a result as JSON, or as the text that the function writes.
func (a *app) print(v any, text func(io.Writer)) error {
	if a.json {
		return writeJSON(a.env.Stdout, v)
	}
	w := bufio.NewWriter(a.env.Stdout)
	text(w)
	return w.Flush() // it remembers the first error of a write
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
