package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/internal/config"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/policy/scope"
	"cairn/sync/eventlog"
)

// A sample is a memory with something wrong with it.
type sample struct {
	check string // the check of doctor that has to say so
	what  string
	spoil func(context.Context, paths.Home) error
	deep  bool
	// beside has somebody look who does not own the memory.
	beside bool
	// at does what only an agent can.
	at func(context.Context, *Agent) error
}

func samples() []sample {
	personal := "space " + scope.Personal
	all := []sample{
		{check: "agent", what: "another process owns the memory and does not answer", beside: true},
		{check: personal, what: "HEAD is detached", spoil: detach},
		{check: personal, what: "an event has the signature of another one", spoil: forge, deep: true},
		{check: "mend " + scope.Personal, what: "the branch's file is empty", spoil: emptyRef},
		{check: "index", what: "the index cannot be made", spoil: blockIndex, deep: true},
		{check: "index " + scope.Personal, what: "the index cannot be opened", spoil: blockIndex},
		{check: "embedder", what: "the file of word vectors is missing", spoil: missingWords},
		{check: "sync " + scope.Personal, what: "the remote cannot be reached", at: deadRemote},
		{check: "policy", what: "the team's policy is garbled", spoil: garble(paths.Home.Policy)},
		{check: "refused", what: "the list of refused notes is garbled", at: func(ctx context.Context, a *Agent) error {
			return garble(paths.Home.Refused)(ctx, a.opt.Home)
		}},
	}
	if runtime.GOOS != "windows" { // where permissions say this
		all = append(all,
			sample{check: "device", what: "others may read the device key", spoil: permit(paths.Home.DeviceKey, 0o644)},
			sample{check: "home", what: "others may change the memory", spoil: permit(func(h paths.Home) string { return string(h) }, 0o777)})
	}
	return all
}

// Prove shows that the checks of Doctor find what they look for, but for those
// that only a hub can make fail: its clock, its members, and what was purged. For each it
// makes a memory in a scratch folder, which has to pass, spoils it, and says
// whether the check noticed. Nothing else is touched.
func Prove(ctx context.Context) (r api.Report, err error) {
	dir, err := os.MkdirTemp("", "cairn-prove-")
	if err != nil {
		return api.Report{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = api.Report{OK: true, Checks: []api.Check{}}
	for i, s := range samples() {
		c := api.Check{Name: "prove " + s.check, OK: true, Detail: s.what + ": noticed"}
		if err := s.prove(ctx, paths.Home(filepath.Join(dir, fmt.Sprint(i)))); err != nil {
			c.OK, c.Detail, c.Fix = false, s.what+": "+err.Error(), "do not rely on this check, and report this"
			r.OK = false
		}
		r.Checks = append(r.Checks, c)
	}
	return r, context.Cause(ctx)
}

func (s sample) prove(ctx context.Context, home paths.Home) error {
	if _, err := MakeHome(ctx, home, "prove"); err != nil {
		return err
	}
	opt := Options{Home: home, Version: "prove", Log: slog.New(slog.DiscardHandler)}
	if err := healthy(ctx, opt, s); err != nil {
		return err
	}
	if s.spoil != nil {
		if err := s.spoil(ctx, home); err != nil {
			return fmt.Errorf("it could not be made: %w", err)
		}
	}
	a, err := s.open(ctx, opt)
	if err != nil {
		return err
	}
	report, err := s.examine(ctx, a)
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	for _, c := range report.Checks {
		if c.Name == s.check && !c.OK {
			return nil
		}
	}
	return errors.New("not noticed")
}

// healthy saves a note, and requires that nothing is wrong before the memory is
// spoiled: a check that never passes proves nothing.
func healthy(ctx context.Context, opt Options, s sample) error {
	a, err := Own(ctx, opt)
	if err != nil {
		return err
	}
	_, err = a.Remember(ctx, api.Draft{Payload: &event.Observe{Summary: "a note to look at"}, Actor: event.Actor{Kind: event.ActorSystem, ID: "prove"}})
	var report api.Report
	if err == nil {
		report, err = a.Doctor(ctx, s.deep)
	}
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	if !report.OK {
		return fmt.Errorf("doctor finds something before anything is wrong: %+v", report.Checks)
	}
	return nil
}

func (s sample) open(ctx context.Context, opt Options) (*Agent, error) {
	if s.beside {
		return open(opt, nil)
	}
	return Own(ctx, opt)
}

func (s sample) examine(ctx context.Context, a *Agent) (api.Report, error) {
	if s.at != nil {
		if err := s.at(ctx, a); err != nil {
			return api.Report{}, err
		}
	}
	return a.Doctor(ctx, s.deep)
}

func permit(of func(paths.Home) string, mode os.FileMode) func(context.Context, paths.Home) error {
	return func(_ context.Context, h paths.Home) error { return os.Chmod(of(h), mode) }
}

func detach(_ context.Context, h paths.Home) error {
	return os.WriteFile(filepath.Join(h.Space(scope.Personal), "HEAD"), []byte(strings.Repeat("1", 40)+"\n"), 0o644)
}

func emptyRef(_ context.Context, h paths.Home) error {
	return os.WriteFile(filepath.Join(h.Space(scope.Personal), filepath.FromSlash(event.MainRef)), nil, 0o644)
}

// blockIndex puts a file where the folder of the index has to be.
func blockIndex(_ context.Context, h paths.Home) error {
	return errors.Join(os.RemoveAll(h.Index()), os.WriteFile(h.Index(), nil, 0o600))
}

func missingWords(_ context.Context, h paths.Home) error {
	c, err := config.Load(disk.OS, h.Config())
	if err != nil {
		return err
	}
	c.Embedder = "words:" + filepath.Join(string(h), "no such file")
	return config.Save(disk.OS, h.Config(), c)
}

func garble(of func(paths.Home) string) func(context.Context, paths.Home) error {
	return func(_ context.Context, h paths.Home) error { return os.WriteFile(of(h), []byte("garbled"), 0o600) }
}

// forge appends an event whose text is not the one that was signed.
func forge(ctx context.Context, h paths.Home) (err error) {
	log, err := eventlog.Open(disk.OS, h.Space(scope.Personal), scope.Personal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	head, err := log.Head()
	if err != nil {
		return err
	}
	var signed event.Event
	if err := log.Added(ctx, plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error { signed = s.Event; return nil }); err != nil {
		return err
	}
	signed.ID, signed.Payload = event.NewID(time.Now()), &event.Observe{Summary: "nobody signed this"}
	_, err = log.Append(ctx, func(eventlog.Head) ([]event.Event, error) { return []event.Event{signed}, nil })
	return err
}

// deadRemote links a repository where none can be, and tries to reach it.
func deadRemote(ctx context.Context, a *Agent) error {
	r := api.Remote{Space: scope.Personal, Name: "dead", URL: filepath.Join(a.opt.Home.Config(), "repository")}
	if err := a.AddRemote(ctx, r); err != nil {
		return err
	}
	results, err := a.Sync(ctx, api.SyncRequest{Space: scope.Personal})
	if err == nil && len(results) == 0 {
		return errors.New("nothing was synced")
	}
	return nil // that it fails is what doctor has to say
}
