package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/cmd/cairn/mcpclient"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

// stage is what the steps play on.
type stage struct {
	ctx   context.Context
	opt   Options
	dir   string
	steps []Step

	hub      *hub.Hub
	hubAddr  string
	hubEnd   context.CancelFunc
	hubEnded chan error

	laptop, desktop *machine
	secret          string
}

// machine is one of the two machines, with its agent in this process.
type machine struct {
	name  string
	home  paths.Home
	agent *agent.Agent
}

const team = "team"

func (s *stage) startHub() (string, error) {
	data := filepath.Join(s.dir, "hub")
	if _, err := hub.Init(s.ctx, data); err != nil {
		return "", err
	}
	var err error
	if s.hub, err = hub.Open(data, hub.Options{}); err != nil {
		return "", err
	}
	if _, err := s.hub.Admin().CreateSpace(s.ctx, admin.Caller{}, team); err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.hubAddr = l.Addr().String()
	ctx, end := context.WithCancel(context.Background())
	s.hubEnd, s.hubEnded = end, make(chan error, 1)
	go func() { s.hubEnded <- s.hub.Serve(ctx, l) }()
	return "ssh on " + s.hubAddr + ", host key " + s.hub.Fingerprint(), nil
}

func (s *stage) makeMachines() (string, error) {
	var err error
	if s.laptop, err = s.machine("laptop"); err != nil {
		return "", err
	}
	if s.desktop, err = s.machine("desktop"); err != nil {
		return "", err
	}
	for _, m := range []*machine{s.laptop, s.desktop} {
		d := api.Draft{Payload: &event.Observe{Content: "Saved offline on the " + m.name}, Actor: event.Actor{Kind: event.ActorHuman, ID: "ana"}}
		if _, err := m.agent.Remember(s.ctx, d); err != nil {
			return "", err
		}
	}
	return "each has a git repository, an index and a key of its own", nil
}

func (s *stage) machine(name string) (*machine, error) {
	m := &machine{name: name, home: paths.Home(filepath.Join(s.dir, name))}
	if _, err := agent.MakeHome(s.ctx, m.home, name); err != nil {
		return nil, err
	}
	var err error
	m.agent, err = agent.Own(s.ctx, agent.Options{Home: m.home, Version: "demo", Log: slog.New(slog.DiscardHandler)})
	return m, err
}

func (s *stage) join() (string, error) {
	for _, m := range []*machine{s.laptop, s.desktop} {
		i, err := s.hub.Admin().Invite(s.ctx, admin.Caller{}, admin.InviteRequest{
			Person: "ana", Spaces: []string{team}, Role: devices.Write, Addr: s.hubAddr,
		})
		if err != nil {
			return "", err
		}
		if _, err := m.agent.Join(s.ctx, i.Invite); err != nil {
			return "", err
		}
	}
	return "device keys enrolled, spaces personal and team linked", nil
}

const lesson = "We chose Postgres for billing because of its exclusion constraints"

func (s *stage) remember() (string, error) {
	answer, err := s.callTool(s.laptop, "remember", map[string]any{"text": lesson, "space": team, "tags": []string{"billing"}})
	if err != nil {
		return "", err
	}
	return answer.Text, nil
}

func (s *stage) recall() (string, error) {
	began := time.Now()
	const question = "which database did we choose for the billing service and why"
	for {
		answer, err := s.callTool(s.desktop, "recall", map[string]any{"query": question})
		if err != nil {
			return "", err
		}
		for i, h := range answer.Hits {
			if h.Text == lesson {
				return fmt.Sprintf("asked %q, found as number %d, by %s on device %.8s…", question, i+1, h.Harness, h.Device), nil
			}
		}
		if time.Since(began) > 5*time.Second {
			return "", errors.New("the note did not arrive within five seconds")
		}
	}
}

func (s *stage) bothHave() (string, error) {
	for _, m := range []*machine{s.laptop, s.desktop} {
		for _, text := range []string{"Saved offline on the laptop", "Saved offline on the desktop"} {
			if err := s.finds(m, text); err != nil {
				return "", err
			}
		}
	}
	return "the histories of both were joined; neither lost anything", nil
}

// finds waits until a machine finds the note.
func (s *stage) finds(m *machine, text string) error {
	for end := time.Now().Add(5 * time.Second); ; {
		answer, err := m.agent.Ask(s.ctx, api.Query{Text: `"` + text + `"`, Limit: 5})
		if err != nil {
			return err
		}
		for _, h := range answer.Hits {
			if h.Text == text {
				return nil
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("the %s does not find %q", m.name, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// makeSecret is a fresh token of a well-known form. It opens nothing.
func makeSecret() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	random := make([]byte, 36)
	rand.Read(random)
	for i, b := range random {
		random[i] = letters[int(b)%len(letters)]
	}
	return "ghp" + "_" + string(random)
}

func (s *stage) secretHere() (string, error) {
	s.secret = makeSecret()
	_, err := s.callTool(s.laptop, "remember", map[string]any{"text": "the deploy token is " + s.secret, "space": team})
	refused, ok := errors.AsType[*mcpclient.ToolError](err)
	if !ok {
		return "", fmt.Errorf("it was not refused: %v", err)
	}
	if bytes.Contains([]byte(refused.Text), []byte(s.secret)) {
		return "", errors.New("the refusal repeats the secret")
	}
	return refused.Text, nil
}

func (s *stage) detachedHere() (string, error) {
	head := filepath.Join(s.laptop.home.Space(team), "HEAD")
	branch, err := os.ReadFile(head)
	if err != nil {
		return "", err
	}
	status, err := s.laptop.agent.Level(s.ctx, team)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(head, []byte(status.Head.String()+"\n"), 0o644); err != nil {
		return "", err
	}
	draft := api.Draft{Space: team, Payload: &event.Observe{Content: "written on no branch"}, Actor: event.Actor{Kind: event.ActorHuman, ID: "ana"}}
	_, refused := s.laptop.agent.Remember(s.ctx, draft)
	if err := os.WriteFile(head, branch, 0o644); err != nil {
		return "", err
	}
	if p := problem.Of(refused); p == nil || p.Code != problem.Detached {
		return "", fmt.Errorf("it was not refused as detached: %v", refused)
	}
	draft.Payload = &event.Observe{Content: "back on the branch"}
	if _, err := s.laptop.agent.Remember(s.ctx, draft); err != nil {
		return "", fmt.Errorf("after the branch was restored: %w", err)
	}
	return problem.Of(refused).Message, nil
}

// noTrace looks through every byte that the hub and the machines have stored.
func (s *stage) noTrace() (string, error) {
	files := 0
	for _, name := range []string{"hub", "laptop", "desktop"} {
		err := filepath.WalkDir(filepath.Join(s.dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			b, err := os.ReadFile(path)
			if err == nil && bytes.Contains(b, []byte(s.secret)) {
				return fmt.Errorf("%s holds it", path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d files searched", files), nil
}

// close stops everything that was started.
func (s *stage) close() error {
	var err error
	for _, m := range []*machine{s.laptop, s.desktop} {
		if m != nil && m.agent != nil {
			err = errors.Join(err, m.agent.Close())
		}
	}
	if s.hubEnd != nil {
		s.hubEnd()
		err = errors.Join(err, <-s.hubEnded)
	}
	if s.hub != nil {
		err = errors.Join(err, s.hub.Close())
	}
	return err
}
