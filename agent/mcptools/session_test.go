package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/agent/api"
	"cairn/internal/event"
)

func TestPipedCallsAreAllAnswered(t *testing.T) {
	t.Parallel()
	for range 5 {
		m := &memory{}
		input := hello
		var want []string
		for i := 1; i <= 20; i++ {
			input += callLine(fmt.Sprint(i), "remember", args{"text": fmt.Sprint("note ", i)})
			want = append(want, fmt.Sprint(i))
		}
		got := send(t, options(m), strings.NewReader(strings.TrimSuffix(input, "\n")))
		if got.err != nil || len(got.lines) != 21 || len(m.events) != 20 {
			t.Fatalf("%d answers, %d notes, %v", len(got.lines), len(m.events), got.err)
		}
		var ids []string
		for _, a := range got.lines[1:] {
			if a.Error != nil || a.Result.IsError {
				t.Errorf("%s: %+v", a.ID, a)
			}
			ids = append(ids, string(a.ID))
		}
		if slices.Sort(ids); !slices.Equal(ids, sorted(want)) {
			t.Errorf("answered %v", ids)
		}
		for _, e := range m.events {
			if e.Actor.Harness != "codex" { // also of the call right behind initialize
				t.Errorf("%+v", e.Actor)
			}
		}
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestManyRequestsInFlightKeepTheirIDs(t *testing.T) {
	t.Parallel()
	const n = 200
	var inside sync.WaitGroup
	inside.Add(n)
	m := &memory{hook: func(context.Context) { inside.Done(); inside.Wait() }} // nobody leaves before all are in
	input := hello
	want := map[string]string{}
	for i := range n {
		id := fmt.Sprint(i + 1)
		switch i % 4 {
		case 1:
			id = fmt.Sprintf("%q", "request-"+id)
		case 2:
			id = "9007199254740" + fmt.Sprint(1000+i) // a float would lose its last digits
		case 3:
			id = "-" + id
		}
		want[id] = fmt.Sprint("text ", i)
		input += callLine(id, "recall", args{"query": want[id]})
	}
	got := send(t, options(m), strings.NewReader(input))
	if len(got.lines) != n+1 || got.err != nil {
		t.Fatalf("%d answers, %v", len(got.lines), got.err)
	}
	for _, a := range got.lines[1:] {
		if _, asked := want[string(a.ID)]; !asked || a.Error != nil {
			t.Errorf("an answer to %s: %+v", a.ID, a)
		}
		delete(want, string(a.ID))
	}
	if len(want) != 0 {
		t.Errorf("without an answer: %v", want)
	}
}

func TestWhatIsSavedFirstIsFoundByWhatIsAskedNext(t *testing.T) {
	t.Parallel()
	const n = 30
	m := &memory{hook: func(context.Context) { runtime.Gosched() }}
	input := hello
	for i := range n {
		input += callLine(fmt.Sprint(2*i+1), []string{"remember", "note"}[i%2], args{"text": fmt.Sprintf("note %03d", i)})
		input += callLine(fmt.Sprint(2*i+2), "recall", args{"query": fmt.Sprintf("%03d", i)})
	}
	got := send(t, options(m), strings.NewReader(input))
	if len(got.lines) != 2*n+1 {
		t.Fatal(got.ids())
	}
	for _, a := range got.lines[1:] {
		if text := a.Result.Content[0].Text; strings.Contains(text, "no memory matches") {
			t.Errorf("%s: %s", a.ID, text)
		}
	}
	for i, e := range m.events {
		if want := fmt.Sprintf("note %03d", i); e.Payload.Body() != want {
			t.Errorf("%q was saved in place of %q", e.Payload.Body(), want)
		}
	}
}

func TestLinesThatAreNotRequests(t *testing.T) {
	t.Parallel()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, k := range map[string]struct{ input, ids string }{
		"nothing":             {"", ""},
		"blank lines":         {"\n \r\n\t\n" + ping + "\r\n\n", "1"},
		"no newline":          {ping, "1"},
		"not JSON":            {"hello\n" + ping, "1, null -32700"},
		"half of JSON":        {`{"jsonrpc":"2.0","id":7,` + "\n" + ping, "1, null -32700"},
		"several in one":      {"[" + ping + "," + ping + "]\n" + ping, "1, null -32600"},
		"an id of no kind":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + ping, "1, null -32600"},
		"another version":     {`{"jsonrpc":"1.0","id":3,"method":"ping"}` + "\n" + ping, "1, 3 -32600"},
		"no method":           {`{"jsonrpc":"2.0","id":3}` + "\n" + ping, "1, 3 -32601"},
		"unknown method":      {`{"jsonrpc":"2.0","id":3,"method":"no/such"}` + "\n" + ping, "1, 3 -32601"},
		"unknown tool":        {callLine("3", "no_such", nil) + ping, "1, 3 -32602"},
		"a notification":      {`{"jsonrpc":"2.0","method":"notifications/no_such"}` + "\n" + ping, "1"},
		"an unasked answer":   {`{"jsonrpc":"2.0","id":9,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":""}}` + "\n" + ping, "1"},
		"not UTF-8":           {"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"x\":\"caf\xe9\"}\n" + ping, "1, 3 -32700"},
		"half a surrogate":    {`{"jsonrpc":"2.0","id":3,"method":"ping","x":"\ud83d"}` + "\n" + ping, "1, 3 -32700"},
		"the other half":      {`{"jsonrpc":"2.0","id":3,"method":"ping","x":"\\\uDE00"}` + "\n" + ping, "1, 3 -32700"},
		"both halves":         {`{"jsonrpc":"2.0","id":3,"method":"ping","x":"\\ud83d \ud83d\ude00"}` + "\n" + ping, "1, 3"},
		"parameters in a row": {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[1]}` + "\n" + ping, "1, 3 -32600"},
		"a name of no kind":   {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":{}}}` + "\n" + ping, "1, 3 -32600"},
		"arguments as text":   {`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","arguments":"x"}}` + "\n" + ping, "1, 3"},
		"tools before hello":  {callLine("3", "ping", nil), "3"},
	} {
		got := send(t, options(&memory{}), strings.NewReader(k.input))
		if got.err != nil || got.ids() != k.ids {
			t.Errorf("%s: %s, %v; want %s", name, got.ids(), got.err, k.ids)
		}
	}
}

func TestInitializeWaitsForNothing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	opts := options(nil)
	opts.Connect = func(context.Context) (api.Agent, error) { <-release; return &memory{}, nil }
	c := connect(t, opts, "test") // is initialized while a call hangs
	done := make(chan struct{})
	go func() { defer close(done); use(t, c, "recall", args{"query": "x"}) }()
	for range 3 {
		get(t, c, "ping", nil, nil)
	}
	close(release)
	<-done
}

func TestEveryByteIsProtocolAtAnyLogLevel(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := &memory{hook: func(context.Context) { panic("about hush") }}
	opts := options(m)
	opts.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	input := hello + callLine("1", "recall", args{"query": "x"}) + callLine("2", "show", nil) + callLine("3", "ping", nil) + "garbage\n" +
		`{"jsonrpc":"2.0","id":4,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"cairn://digest"}}`
	got := send(t, opts, strings.NewReader(input))
	if len(got.lines) != 7 || got.err != nil {
		t.Errorf("%s, %v", got.ids(), got.err)
	}
	if !strings.Contains(log.String(), "session_test.go") || strings.Contains(log.String(), "hush") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAPanicIsAnAnswerAndTheServerLives(t *testing.T) {
	t.Parallel()
	m := &memory{hook: func(context.Context) { panic("about hush") }}
	c := connect(t, options(m), "test")
	for range 3 {
		if r := use(t, c, "remember", args{"text": "x"}); !r.IsError || !strings.Contains(words(r), "failed inside") || strings.Contains(words(r), "hush") {
			t.Errorf("got %s", words(r))
		}
	}
	opts := options(nil)
	opts.Connect = func(context.Context) (api.Agent, error) { panic("about hush") }
	read := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"cairn://digest"}}`
	if got := send(t, opts, strings.NewReader(read)); got.ids() != "1 -32603" || strings.Contains(got.lines[0].Error.Message, "hush") {
		t.Errorf("got %s", got.ids())
	}
}

func TestTheStatelessProtocolIsSpokenToo(t *testing.T) {
	t.Parallel()
	m := &memory{}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"copilot-cli","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	got := send(t, options(m), strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"remember","arguments":{"text":"x"},`+meta+`}}`+"\n"))
	answered := map[string]bool{}
	for _, a := range got.lines {
		answered[string(a.ID)] = a.Error == nil && !a.Result.IsError
	}
	if !answered["1"] || !answered["2"] || !answered["3"] || len(m.events) != 1 || m.events[0].Actor.Harness != "copilot" {
		t.Errorf("%s; %+v", got.ids(), m.events)
	}
}

func TestTheGreatestNoteGoesThrough(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	text := "a title\n" + strings.Repeat("\"", event.MaxText-8)
	get(t, c, "remember", args{"text": text}, nil)
	if said := get(t, c, "show", args{"id": string(m.last().ID)}, nil); !strings.HasSuffix(said, "\n\n"+text) {
		t.Error("it came back changed")
	}
}

func FuzzSession(f *testing.F) {
	f.Add([]byte(hello + callLine("1", "remember", args{"text": "x"})))
	f.Add([]byte("\n\n[]\n{}\nnull\n\"\n{\"id\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1e5,\"method\":\"ping\"}"))
	f.Add([]byte(callLine(`"\u0041"`, "revise", args{"id": "~123456", "action": "redact", "reason": "\\ud83d"})))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"tools/call\",\"params\":{\"name\":\"log\",\"arguments\":{\"since\":\"9w\"}}}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		got := send(t, options(&memory{}), bytes.NewReader(input))
		if got.err != nil {
			t.Fatal(got.err)
		}
		lines, requests := 0, 0
		for l := range bytes.Lines(input) {
			lines++
			var m struct {
				JSONRPC, Method string
				ID              any
			}
			if json.Unmarshal(l, &m) == nil && m.ID != nil && m.Method != "" {
				requests++
			}
		}
		if n := len(got.lines); n > lines || n < requests {
			t.Fatalf("%d answers to %d requests in %d lines", n, requests, lines)
		}
	})
}
