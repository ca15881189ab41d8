package mcptools

import (
	"context"
	"embed"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"cairn/agent/api"
	"cairn/internal/problem"
)

//go:embed schemas/*.json
var schemas embed.FS

// A tool is one thing that a model can do with the memory.
type tool struct {
	name   string
	title  string
	words  string // the description
	input  string // names of files in schemas
	output string
	writes bool
	core   bool // clients that load tools late are asked to load it at once
	run    func(d *desk, ctx context.Context, args json.RawMessage) (reply, error)
}

// A reply is the outcome of a tool twice: in words, and as JSON that fits the
// tool's output schema.
type reply struct {
	text  string
	value any
}

// tools lists what we offer.
func tools() []tool {
	return []tool{
		{name: "remember", title: "Remember", words: rememberWords, input: "remember.input", output: "remember.output", writes: true, core: true, run: with((*desk).remember)},
		{name: "recall", title: "Recall", words: recallWords, input: "recall.input", output: "answer.output", core: true, run: with((*desk).recall)},
		{name: "show", title: "Show one memory", words: showWords, input: "show.input", output: "show.output", run: with((*desk).show)},
		{name: "revise", title: "Revise a memory", words: reviseWords, input: "revise.input", output: "remember.output", writes: true, run: with((*desk).revise)},
		{name: "log", title: "Newest memories", words: logWords, input: "log.input", output: "answer.output", run: with((*desk).newest)},
		{name: "status", title: "State of memory", words: statusWords, input: "none.input", output: "status.output", run: with((*desk).status)},
		{name: "doctor", title: "Check memory", words: doctorWords, input: "none.input", output: "doctor.output", run: with((*desk).doctor)},
		{name: "ping", title: "Ping", words: pingWords, input: "none.input", output: "ping.output", run: with((*desk).ping)},
	}
}

// oldNames lets tools that were set up for an older memory go on: note takes
// a text and ask a query, as remember and recall do.
var oldNames = map[string]string{"note": "remember", "ask": "recall"}

func renameOld(_ context.Context, _ any, request *mcp.CallToolRequest) {
	if name, old := oldNames[request.Params.Name]; old {
		request.Params.Name = name
	}
}

// writes says whether the tool of that name saves something.
func writes(name string) bool {
	if now, old := oldNames[name]; old {
		name = now
	}
	return slices.ContainsFunc(tools(), func(t tool) bool { return t.name == name && t.writes })
}

// with reads checked arguments into the type that fn wants.
func with[Args any](fn func(*desk, context.Context, Args) (reply, error)) func(*desk, context.Context, json.RawMessage) (reply, error) {
	return func(d *desk, ctx context.Context, raw json.RawMessage) (reply, error) {
		var args Args
		if err := json.Unmarshal(raw, &args); err != nil {
			return reply{}, wrongUse("arguments", "the arguments do not fit together")
		}
		return fn(d, ctx, args)
	}
}

func schemaText(name string) json.RawMessage {
	b, err := schemas.ReadFile("schemas/" + name + ".json")
	if err != nil {
		panic("mcptools: " + err.Error()) // it is part of the program
	}
	return b
}

// describe is the tool as clients list it.
func (t tool) describe() mcp.Tool {
	yes, no, readOnly := true, false, !t.writes
	m := mcp.Tool{
		Name:            t.name,
		Title:           t.title,
		Description:     t.words,
		RawInputSchema:  schemaText(t.input),
		RawOutputSchema: schemaText(t.output),
		Annotations: mcp.ToolAnnotation{
			Title:           t.title,
			ReadOnlyHint:    &readOnly,
			DestructiveHint: &no, // what is revised stays in the history
			IdempotentHint:  &yes,
			OpenWorldHint:   &no,
		},
	}
	if t.core {
		m.Meta = mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true})
	}
	return m
}

// A desk is where calls come in.
type desk struct {
	connect func(context.Context) (api.Agent, error)
	lost    func(error) bool // may be nil
	client  string
	version string
	log     *slog.Logger
}

// handle is the tool as the protocol server calls it. Whatever goes wrong is
// a result that the model can read.
func (d *desk) handle(t tool) server.ToolHandlerFunc {
	var s schema
	if err := json.Unmarshal(schemaText(t.input), &s); err != nil {
		panic("mcptools: " + t.input + ": " + err.Error()) // it is part of the program
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		defer func() {
			if v := recover(); v != nil {
				logPanic(d.log, t.name, v)
				result, err = failure(problem.New(problem.Failed, t.name+" failed inside; the server goes on")), nil
			}
		}()
		if t.writes {
			// A write that has begun is worth more than a client's patience.
			ctx = context.WithoutCancel(ctx)
		}
		args, err := s.check(t.name, request.Params.RawArguments)
		if err != nil {
			return failure(err), nil
		}
		r, err := t.run(d, ctx, args)
		if err != nil && d.lost != nil && d.lost(err) {
			r, err = t.run(d, ctx, args)
		}
		if err != nil {
			d.log.Debug("a call failed", "tool", t.name, "code", problem.Of(err).Code)
			return failure(err), nil
		}
		return mcp.NewToolResultStructured(r.value, r.text), nil
	}
}

// failure tells a model what went wrong and what to do, in words and in the
// form of the command line. It is not structured content: that would have to
// fit the tool's output schema.
func failure(err error) *mcp.CallToolResult {
	p := problem.Of(err)
	lines := []string{p.Message, "code: " + string(p.Code)}
	for _, more := range []struct{ name, value string }{{"rule", p.Rule}, {"field", p.Field}, {"what to do", p.Hint}} {
		if more.value != "" {
			lines = append(lines, more.name+": "+more.value)
		}
	}
	result := mcp.NewToolResultError(strings.Join(lines, "\n"))
	if b, err := json.Marshal(map[string]*problem.Problem{"error": p}); err == nil {
		result.Content = append(result.Content, mcp.NewTextContent(string(b)))
	}
	return result
}
