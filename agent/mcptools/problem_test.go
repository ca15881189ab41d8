package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/internal/problem"
)

func TestWhatCannotBeDoneIsExplained(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	var note api.Receipt
	get(t, c, "remember", args{"text": "x"}, &note)
	hidden := "hush-" + "hush"
	cases := []struct {
		tool  string
		args  args
		code  problem.Code
		words string // part of the explanation
	}{
		{"remember", args{"text": hidden}, problem.Secret, "rule: hush-rule\nfield: payload.content\nwhat to do: take it out"},
		{"remember", args{"text": "x", "titel": hidden}, problem.Usage, "remember has no argument titel: it takes text, key,"},
		{"remember", args{"text": "x", strings.Repeat(hidden, 9): 1}, problem.Usage, "no argument of that name"},
		{"remember", args{"title": hidden}, problem.Usage, "remember needs the argument text"},
		{"remember", args{"text": "  \n"}, problem.Usage, "text is empty"},
		{"remember", args{"text": 7}, problem.Usage, "must be a text"},
		{"remember", args{"text": "x", "kind": hidden}, problem.Usage, "must be one of observe, claim, lesson, pref"},
		{"remember", args{"text": "x", "tags": hidden}, problem.Usage, "must be a list of texts"},
		{"remember", args{"text": "x", "kind": "pref"}, problem.Usage, "CATEGORY/KEY"},
		{"remember", args{"text": "x", "kind": "pref", "title": "/k"}, problem.Usage, "CATEGORY/KEY"},
		{"remember", args{"text": "x", "kind": "pref", "title": "a/b", "supersedes": "~123456"}, problem.Usage, "by itself"},
		{"remember", args{"text": "x", "kind": "claim"}, problem.Usage, "title is missing"},
		{"recall", nil, problem.Usage, "recall needs the argument query"},
		{"recall", args{"query": "x", "limit": 0}, problem.Usage, "between 1 and 50"},
		{"recall", args{"query": "x", "limit": 1.5}, problem.Usage, "a whole number"},
		{"recall", args{"query": "x", "since": hidden}, problem.Usage, "since must be a date"},
		{"log", args{"until": "d"}, problem.Usage, "until must be a date"},
		{"log", args{"all": "yes"}, problem.Usage, "true or false"},
		{"show", args{"id": "~zzzzzz"}, problem.NotFound, "no memory has that id"},
		{"revise", args{"id": note.ID, "action": "supersede"}, problem.Usage, "supersede needs text"},
		{"revise", args{"id": note.ID, "action": "redact"}, problem.Usage, "redact needs a reason"},
		{"revise", args{"id": "~zzzzzz", "action": "archive"}, problem.NotFound, "no memory has that id"},
		{"status", args{"deep": true}, problem.Usage, "it takes none"},
	}
	for _, k := range cases {
		result := use(t, c, k.tool, k.args)
		said := words(result)
		if !result.IsError || !strings.Contains(said, k.words) || strings.Contains(said, hidden) {
			t.Errorf("%s %v: %s", k.tool, k.args, said)
		}
		var e struct{ Error problem.Problem }
		if err := json.Unmarshal([]byte(said[strings.LastIndex(said, "\n")+1:]), &e); err != nil || e.Error.Code != k.code {
			t.Errorf("%s %v: code %q, %v", k.tool, k.args, e.Error.Code, err)
		}
	}
	if n := len(m.events); n != 1 {
		t.Errorf("%d memories were saved", n)
	}
}

func TestWithoutAnAgentTheReasonIsTold(t *testing.T) {
	t.Parallel()
	opts := options(nil)
	opts.Connect = func(context.Context) (api.Agent, error) {
		return nil, &problem.Problem{Code: problem.NoStore, Message: "there is no memory on this machine", Hint: "run cairn init"}
	}
	c := connect(t, opts, "test")
	for tool, a := range map[string]args{"remember": {"text": "x"}, "recall": {"query": "x"}, "log": nil, "show": {"id": "~123456"}, "revise": {"id": "~123456", "action": "archive"}, "status": nil, "doctor": nil} {
		if result := use(t, c, tool, a); !result.IsError || !strings.Contains(words(result), "no_store") || !strings.Contains(words(result), "cairn init") {
			t.Errorf("%s: %s", tool, words(result))
		}
	}
}

// dying is an agent that goes away during its first calls.
type dying struct {
	*memory
	calls, deaths int
}

var errDied = errors.New("the agent ended before it answered")

func (d *dying) Remember(ctx context.Context, draft api.Draft) (api.Receipt, error) {
	if d.calls++; d.calls <= d.deaths {
		return api.Receipt{}, &problem.Problem{Code: problem.Busy, Message: errDied.Error(), Err: errDied}
	}
	return d.memory.Remember(ctx, draft)
}

func TestACallThatLosesItsAgentIsMadeOnceMore(t *testing.T) {
	t.Parallel()
	for deaths, want := range map[int]struct {
		calls int
		saved bool
	}{0: {1, true}, 1: {2, true}, 2: {2, false}} {
		agent := &dying{memory: &memory{}, deaths: deaths}
		opts := options(agent)
		opts.Lost = func(err error) bool { return errors.Is(err, errDied) }
		result := use(t, connect(t, opts, "test"), "remember", args{"text": "x"})
		if agent.calls != want.calls || result.IsError == want.saved {
			t.Errorf("with %d deaths: %d calls, %s", deaths, agent.calls, words(result))
		}
	}
	agent := &dying{memory: &memory{}, deaths: 1}
	if result := use(t, connect(t, options(agent), "test"), "remember", args{"text": "x"}); !result.IsError || agent.calls != 1 {
		t.Errorf("without knowing what is lost: %d calls, %s", agent.calls, words(result))
	}
}
