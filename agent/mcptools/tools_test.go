package mcptools_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/internal/event"
)

func TestANoteIsSavedFoundAndReadBack(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "claude-code")
	text := "We chose Postgres for billing <because> \"JSON\" & transactions.\r\n\t我们决定用Redis做会话缓存\n\n" + strings.Repeat("more ", 1000)

	var receipt api.Receipt
	said := get(t, c, "remember", args{"text": text, "tags": []string{"db"}, "project": "my-app-v2"}, &receipt)
	if saved := m.last(); receipt.ID != saved.ID || receipt.Duplicate || !strings.Contains(said, saved.ID.Short()) || saved.Payload.Body() != text {
		t.Errorf("%s: %+v", said, receipt)
	}
	if said := get(t, c, "remember", args{"text": text}, &receipt); !receipt.Duplicate || !strings.Contains(said, "already there") {
		t.Errorf("a second time: %s, %+v", said, receipt)
	}

	var found api.Answer
	said = get(t, c, "recall", args{"query": "Redis"}, &found)
	if len(found.Hits) != 1 || found.Hits[0].ID != receipt.ID || found.Hits[0].Project != "my-app-v2" {
		t.Fatalf("found %+v", found)
	}
	for _, part := range []string{receipt.ID.Short(), "claude-code on laptop", receipt.ID.Time().Format("2006-01-02"), "\n> We chose Postgres", "shortened"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in:\n%s", part, said)
		}
	}

	var full struct{ Event json.RawMessage }
	said = get(t, c, "show", args{"id": receipt.ID.Short()}, &full)
	if _, body, _ := strings.Cut(said, "\n\n"); body != text {
		t.Errorf("show gave %.200q", said)
	}
	var got, want any
	stored, err := event.Encode(m.last())
	if err := errors.Join(err, json.Unmarshal(stored, &want), json.Unmarshal(full.Event, &got)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the event is %v, want %v", got, want)
	}
}

func TestNothingFoundIsSaidPlainly(t *testing.T) {
	t.Parallel()
	c := connect(t, options(&memory{}), "test")
	for _, tool := range []string{"recall", "log", "ask"} {
		a := args{"query": "no such thing"}
		if tool == "log" {
			a = nil
		}
		var found api.Answer
		if said := get(t, c, tool, a, &found); !strings.Contains(said, "no memory matches") || found.Hits == nil || len(found.Hits) > 0 {
			t.Errorf("%s: %s, %+v", tool, said, found)
		}
	}
	m := &memory{answer: &api.Answer{Query: "*", Note: "to see the newest, call log"}}
	if said := get(t, connect(t, options(m), "test"), "recall", args{"query": "*"}, nil); !strings.Contains(said, "call log") {
		t.Errorf("the agent's note is lost: %s", said)
	}
}

func TestKindsOfMemory(t *testing.T) {
	t.Parallel()
	old := event.ID("01jz0000000000000000k3m9x2")
	cases := map[string]struct {
		args   args
		want   event.Payload
		parent event.ID
	}{
		"a note":     {args{"text": "a\nb"}, &event.Observe{Summary: "a", Content: "a\nb"}, ""},
		"with title": {args{"text": "a", "title": "t", "kind": "observe", "supersedes": "~k3m9x2"}, &event.Observe{Summary: "t", Content: "a", Supersedes: "~k3m9x2"}, ""},
		"null":       {args{"text": "a", "title": nil, "tags": nil}, &event.Observe{Summary: "a", Content: "a"}, ""},
		"a claim":    {args{"text": "x", "title": "billing/db", "kind": "claim"}, &event.Claim{SchemaType: "statement", Key: "billing/db", Content: "x"}, ""},
		"a lesson":   {args{"text": "x", "title": "go", "kind": "lesson"}, &event.Lesson{Category: "go", Text: "x", Transition: event.LessonAdd}, ""},
		"a better":   {args{"text": "x", "kind": "lesson", "supersedes": string(old)}, &event.Lesson{Category: "general", Text: "x", Transition: event.LessonModify}, old},
		"a pref":     {args{"text": "tabs", "title": "style/indent/go", "kind": "pref"}, &event.Pref{Category: "style", Key: "indent/go", Value: "tabs"}, ""},
	}
	for name, k := range cases {
		m := &memory{}
		get(t, connect(t, options(m), "test"), "remember", k.args, nil)
		if got := m.last(); !reflect.DeepEqual(got.Payload, k.want) || got.Parent != k.parent {
			t.Errorf("%s: %+v, parent %q", name, got.Payload, got.Parent)
		}
	}
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	save := func(a args) event.ID {
		var r api.Receipt
		a["space"], a["project"], a["tags"] = "team", "p", []string{"t"}
		get(t, c, "remember", a, &r)
		return r.ID
	}
	note := save(args{"text": "old"})
	claim := save(args{"text": "old", "kind": "claim", "title": "k"})
	lesson := save(args{"text": "old", "kind": "lesson", "title": "c"})
	pref := save(args{"text": "old", "kind": "pref", "title": "c/k"})
	cases := []struct {
		id   event.ID
		args args
		want event.Payload
	}{
		{note, args{"action": "supersede", "text": "new"}, &event.Observe{Summary: "new", Content: "new", Supersedes: note}},
		{claim, args{"action": "supersede", "text": "new"}, &event.Claim{SchemaType: "statement", Key: "k", Content: "new", Supersedes: claim}},
		{lesson, args{"action": "supersede", "text": "new"}, &event.Lesson{Category: "c", Text: "new", Transition: event.LessonModify}},
		{pref, args{"action": "supersede", "text": "new"}, &event.Pref{Category: "c", Key: "k", Value: "new"}},
		{note, args{"action": "archive", "reason": "done"}, &event.Archive{Target: note, Direction: "archive", Reason: "done"}},
		{note, args{"action": "restore"}, &event.Archive{Target: note, Direction: "restore"}},
		{note, args{"action": "redact", "reason": "personal"}, &event.Redact{Target: note, Reason: "personal"}},
		{note, args{"action": "verify", "text": "looked"}, &event.Verify{Target: note, Attestation: "looked", Verdict: event.Confirmed}},
		{note, args{"action": "verify", "verdict": "refuted"}, &event.Verify{Target: note, Verdict: event.Refuted}},
	}
	for _, k := range cases {
		k.args["id"] = k.id.Short()
		get(t, c, "revise", k.args, nil)
		got := m.last()
		if !reflect.DeepEqual(got.Payload, k.want) || got.Space != "team" || got.Project != "p" {
			t.Errorf("%v: %+v in %s", k.args, got.Payload, got.Space)
		}
	}
	if said := get(t, c, "revise", args{"id": string(note), "action": "supersede", "text": "newer", "reason": "why"}, nil); !strings.Contains(said, "reason was not kept") {
		t.Errorf("a reason went away in silence: %s", said)
	}
}

func TestFiltersReachTheAgent(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	get(t, c, "recall", args{
		"query": "q", "limit": 99, "kind": "lesson", "tag": "t", "project": "p", "space": "s", "harness": "h", "device": "d",
		"since": "2026-01-02T03:04:05Z", "until": "2026-01-03T00:00:00+01:00", "all": true,
	}, nil)
	q := m.asked[0]
	if q.Text != "q" || q.Limit != 50 || !q.All || q.Filter.Since.String() != "2026-01-02 03:04:05 +0000 UTC" || q.Filter.Until.String() != "2026-01-02 23:00:00 +0000 UTC" {
		t.Errorf("asked %+v", q)
	}
	q.Filter.Since, q.Filter.Until = nil, nil
	if want := (api.Filter{Space: "s", Kind: event.KindLesson, Tags: []string{"t"}, Harness: "h", Device: "d", Project: "p"}); !reflect.DeepEqual(q.Filter, want) {
		t.Errorf("filter %+v", q.Filter)
	}
	get(t, c, "log", args{"since": "7d"}, nil)
	get(t, c, "log", args{"since": "2026-01-02"}, nil)
	if a, b := m.asked[1].Filter.Since, m.asked[2].Filter.Since; a == nil || b == nil || m.asked[1].Limit != 0 {
		t.Errorf("asked %+v", m.asked[1:])
	}
}

func TestTheNamesOfAnOlderMemoryStillWork(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	get(t, c, "note", args{"text": "an old habit"}, nil)
	var found api.Answer
	if get(t, c, "ask", args{"query": "habit"}, &found); len(found.Hits) != 1 {
		t.Errorf("found %+v", found)
	}
}

func TestWhoWroteItIsNotUpToTheModel(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"claude-code": "claude-code", "codex-mcp-client": "codex", "gemini-cli-mcp-client": "gemini", "qwen-cli-mcp-client-cairn": "qwen",
		"openclaw-bundle-mcp": "openclaw", "@cline/core": "cline", "Visual Studio Code": "vscode", "My <New> Tool\n2.0": "my-new-tool-2.0",
		"": "mcp", "日本": "mcp", strings.Repeat("x", 500): strings.Repeat("x", 64),
	} {
		m := &memory{}
		get(t, connect(t, options(m), client), "remember", args{"text": "x"}, nil)
		if got := m.last().Actor; got.Kind != event.ActorAgent || got.Harness != want || got.ID != want {
			t.Errorf("%q: %+v, want %s", client, got, want)
		}
	}
	m := &memory{}
	opts := options(m)
	opts.Client = "hermes"
	get(t, connect(t, opts, "claude-code"), "remember", args{"text": "x"}, nil)
	if got := m.last().Actor.Harness; got != "hermes" {
		t.Errorf("started for hermes: %s", got)
	}
}
