package mcptools_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"cairn/agent/api"
	"cairn/internal/event"
)

func TestTheStateOfTheMachine(t *testing.T) {
	t.Parallel()
	last := event.NewTime(event.ID("01jz0000000000000000k3m9x2").Time())
	m := &memory{
		status: api.Status{Home: "/h", Agent: api.Process{Running: true, Version: "1", PID: 7}, Refused: 2, Spaces: []api.SpaceStatus{
			{Name: "personal", Events: 3, Indexed: 3}, {Name: "team", Events: 9, Indexed: 7, Ahead: 4, LastSync: &last, LastError: "no route", Remote: "hub"},
		}},
		report: api.Report{Checks: []api.Check{{Name: "log", OK: true}, {Name: "index", Detail: "is behind", Fix: "run cairn doctor --deep"}}},
	}
	c := connect(t, options(m), "test")
	var status struct{ Spaces []map[string]any }
	said := get(t, c, "status", nil, &status)
	if !strings.Contains(said, "team: 9 memories, 2 of them not yet in the index, 4 wait to be sent") || !strings.Contains(said, "last error: no route") || !strings.Contains(said, "2 memories were refused") {
		t.Errorf("status: %s", said)
	}
	if _, null := status.Spaces[0]["last_sync"]; null || status.Spaces[1]["last_sync"] == nil {
		t.Errorf("status: %v", status)
	}
	if said := get(t, c, "doctor", nil, nil); !strings.Contains(said, "- index: is behind; run cairn doctor --deep") {
		t.Errorf("doctor: %s", said)
	}
	m.report = api.Report{OK: true}
	if said := get(t, c, "doctor", nil, nil); !strings.Contains(said, "checks hold") {
		t.Errorf("doctor: %s", said)
	}
	get(t, connect(t, options(&memory{}), "test"), "status", nil, nil)
}

func TestPingAsksNobody(t *testing.T) {
	t.Parallel()
	opts := options(nil)
	opts.Connect = func(context.Context) (api.Agent, error) { return nil, errors.New("not for a ping") }
	if said := get(t, connect(t, opts, "test"), "ping", nil, nil); !strings.Contains(said, "1.2.3") {
		t.Errorf("ping: %s", said)
	}
}

func TestTheDigestIsAResource(t *testing.T) {
	t.Parallel()
	m := &memory{}
	c := connect(t, options(m), "test")
	read := func() string {
		var r mcp.ReadResourceRequest
		r.Params.URI = "cairn://digest"
		got, err := c.ReadResource(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return got.Contents[0].(mcp.TextResourceContents).Text
	}
	if got := read(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	get(t, c, "remember", args{"text": "we use tabs"}, nil)
	if got := read(); got != "- "+m.last().ID.Short()+" we use tabs\n" {
		t.Errorf("got %q", got)
	}
	list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "cairn://digest" {
		t.Errorf("listed %+v, %v", list, err)
	}
}
