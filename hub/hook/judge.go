package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/audit"
	"cairn/hub/gate"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/scope"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/history"
	"cairn/sync/intake"
)

// Options are how pushes are judged.
type Options struct {
	FS disk.FS
	// Policy judges what is said. Event and Raw do in its place if it is nil, as
	// Decide of gate.Admission and as in intake.Options.
	Policy *policy.Policy
	Event  func(event.Event) []intake.Finding
	Raw    func(plumbing.ObjectType, []byte) []intake.Finding
	// Keys are the devices whose events are taken; nil is every device. Members
	// are those whose devices are known; nil is anybody's. Both must agree.
	Keys    map[event.DeviceID]bool
	Members *Members
	// Pusher is who pushes, and Ledger where that is put on record, if it is not
	// nil.
	Pusher Pusher
	Ledger *audit.File
	// Space is the one that the repository must be; empty is whatever it is.
	Space  string
	Limits repository.Limits // Pack and Whole of them
	Now    func() time.Time
}

// Judge returns nothing if the push may be taken, or why not, in lines for its
// sender. An error means that it could not be judged, and so must be refused as
// well.
func Judge(ctx context.Context, call Call, o Options) (lines []string, err error) {
	o.Limits = o.Limits.WithDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limits.Whole, ErrTooLong)
	defer cancel()
	v := o.verdict(ctx, call)
	if err := o.keep(ctx, v.record); err != nil {
		return nil, errors.Join(err, v.err)
	}
	return v.lines, v.err
}

type verdict struct {
	lines  []string
	err    error
	record audit.Record
}

// verdict judges for as long as there is time.
func (o Options) verdict(ctx context.Context, call Call) verdict {
	done := make(chan verdict, 1)
	go func() {
		v := verdict{err: errHalfway, record: Failed(o.Pusher, errHalfway)}
		defer func() {
			_ = recover() // v stands for it
			done <- v
		}()
		j := &judge{ctx: ctx, call: call, o: o}
		lines, err := j.judge()
		if n := len(lines); n > 0 && lines[n-1] != gate.NothingStored {
			lines = append(lines, gate.NothingStored)
		}
		v = verdict{lines, err, j.record(lines, err)}
	}()
	select {
	case v := <-done:
		if v.err == nil || ctx.Err() == nil {
			return v
		}
	case <-ctx.Done(): // whatever it waits for
	}
	return verdict{err: context.Cause(ctx), record: Failed(o.Pusher, context.Cause(ctx))}
}

type judge struct {
	ctx   context.Context
	call  Call
	o     Options
	in    *gitstore.Inbox
	old   plumbing.Hash // of the branch
	new   plumbing.Hash
	space commitform.Space

	report intake.Report
	trials trials
}

// trials are the rules that only report, where they found something.
type trials struct {
	mu   sync.Mutex
	list []string
}

func (t *trials) add(rule string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.list, rule) {
		t.list = append(t.list, rule)
	}
}

func (j *judge) judge() (lines []string, err error) {
	commands, err := readCommands(j.call.Stdin)
	if err != nil {
		return nil, err
	}
	if lines := j.refs(commands); lines != nil {
		return lines, nil
	}
	places, err := readPlaces(j.call.Getenv, j.call.Dir)
	if err != nil {
		return nil, err
	}
	j.in, err = gitstore.OpenInbox(j.ctx, j.o.FS, places, j.limits(j.o.Space))
	if lines := badPack(err); lines != nil {
		return lines, nil
	}
	if err != nil {
		return nil, asProblem(err)
	}
	defer func() { err = errors.Join(err, j.in.Close()) }()
	if lines, err = j.look(); err != nil {
		return nil, asProblem(err)
	}
	return lines, nil
}

// look judges what arrived. Whatever is wrong with the push as a whole, its
// content is looked at too: a secret in it must not go unmentioned.
func (j *judge) look() ([]string, error) {
	if lines, err := j.head(); lines != nil || err != nil {
		return lines, err
	}
	forward, err := j.forward()
	if err != nil {
		return nil, err
	}
	ours, err := j.identity()
	if err != nil {
		return nil, err
	}
	if ours == nil {
		ours = j.allowed()
	}
	found, err := j.content()
	return slices.Concat(forward, ours, found), err
}

// refs judges what can be judged without objects.
func (j *judge) refs(commands []gitwire.Command) []string {
	c := commands[0]
	switch {
	case c.New.IsZero():
		return refused("no-delete", "nothing can be deleted here: use cairn redact or cairn archive; the history stays")
	case len(commands) > 1:
		return refused("ref", "one ref at a time is taken: git push REMOTE main, without --tags or --mirror")
	case c.Ref != event.MainRef:
		return refused("ref", "only the branch main is taken here: git push REMOTE main; tags, notes and other branches are not, and nothing is joined, so run cairn sync before you push")
	}
	j.old, j.new = c.Old, c.New
	return nil
}

// refused is one reason, for programs and for people.
func refused(rule, advice string) []string {
	return []string{hubwire.Refusal{Rule: rule}.String(), "cairn: " + advice}
}

// badPack tells what is wrong with what arrived, before its objects are read.
func badPack(err error) []string {
	if limit, ok := errors.AsType[*gitstore.LimitError](err); ok {
		return append(refused(hubwire.RuleLimit, limit.Error()), "cairn: push fewer events at once, oldest first")
	}
	if bad, ok := errors.AsType[*gitstore.BadPackError](err); ok {
		return append(refused("pack", bad.Error()), "cairn: run git fsck in your repository, then push again")
	}
	return nil
}

// head compares what the sender says of the branch with what is there. Git
// compares once more when it moves the branch.
func (j *judge) head() ([]string, error) {
	at, err := j.in.Repo().Head()
	if err != nil {
		return nil, err
	}
	if at.Ref != event.MainRef {
		return nil, fmt.Errorf("%w: it is on another branch than main", gitstore.ErrDetached)
	}
	if at.Commit != j.old {
		return refused(hubwire.RuleStale, "main has moved: run cairn sync, then push again"), nil
	}
	return nil, nil
}

// forward makes sure that the branch only gains. Commits that it would gain and
// that were stored before, who knows how, count as arrived.
func (j *judge) forward() ([]string, error) {
	w := walk{judge: j, seen: map[plumbing.Hash]bool{}, forward: j.old.IsZero()}
	if err := w.from(j.new); err != nil {
		return nil, fmt.Errorf("read the pushed history: %w", err)
	}
	j.in.Include(w.gained...)
	if !w.forward {
		return refused("fast-forward", "history is only ever added to: run cairn sync, then push again"), nil
	}
	return nil, nil
}

// identity finds out which space the repository is: its branch says so, or, if
// it has none yet, the history that is pushed, whose first commit will be made
// again from it.
func (j *judge) identity() ([]string, error) {
	foreign := refused(intake.RuleRoot, "this is not the history of a space of cairn: push the branch of a cairn repository, as it is")
	from, reader := j.old, gitstore.Reader(j.in.Stored())
	if from.IsZero() {
		from, reader = j.new, j.in
	}
	c, err := history.ReadCommit(reader, from)
	if err == nil {
		j.space, err = eventlog.SpaceAt(reader, c.Tree)
	}
	_, malformed := errors.AsType[*history.MalformedError](err)
	unknown := errors.Is(err, commitform.ErrForeign) || malformed || errors.Is(err, plumbing.ErrObjectNotFound)
	switch {
	case unknown && j.old.IsZero():
		return foreign, nil
	case err != nil:
		return nil, err
	case j.space.Name == scope.Local, j.o.Space != "" && j.space.Name != j.o.Space:
		return refused(intake.RuleSpace, "this repository is for another space"), nil
	}
	return nil, nil
}

// content has everything looked at that arrived.
func (j *judge) content() ([]string, error) {
	gone, err := eventlog.PurgedFrom(j.in.Repo())
	if err != nil {
		return nil, err
	}
	a := gate.Admission{Now: j.o.Now(), Decide: j.o.Event}
	raw := j.o.Raw
	if j.o.Policy != nil {
		g := gate.Gate{Policy: j.o.Policy, Space: j.space.Name, Person: j.o.Members.person, OnTrial: j.trials.add}
		a.Decide, raw = g.Event, g.Raw
	}
	if j.o.Keys != nil || j.o.Members != nil {
		a.Origin = j.origin
	}
	j.report, err = intake.Check(j.ctx, j.in, []plumbing.Hash{j.new}, intake.Options{
		Space: j.space, Admit: a.Admit, Raw: raw, Known: j.in.Stored().Has, Purged: gone,
	})
	if err != nil {
		return nil, fmt.Errorf("check a push: %w", err)
	}
	if len(j.report.Findings) == 0 {
		return nil, nil
	}
	return gate.Lines(j.report.Findings), nil
}

func (j *judge) origin(id event.DeviceID) (rule, hint string) {
	if j.o.Members != nil {
		if rule, hint := j.o.Members.origin(j.space.Name)(id); rule != "" {
			return rule, hint
		}
	}
	if j.o.Keys == nil || j.o.Keys[id] {
		return "", ""
	}
	return gate.RuleUnknownDevice, "the key of the device that signed the event is not on this server's list: its operator can add it, then push again"
}

// Told is a failure in lines for the sender: whatever it is, nothing was taken.
func Told(err error) []string {
	p := problem.Of(err)
	lines := []string{"cairn: " + p.Message}
	if p.Rule != "" {
		lines = append([]string{hubwire.Refusal{Rule: p.Rule}.String()}, lines...)
	}
	if p.Hint != "" {
		lines = append(lines, "cairn: "+p.Hint)
	}
	return append(lines, gate.NothingStored)
}
