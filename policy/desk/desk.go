package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// A Desk is where one person sits. Its fields are set before it is used.
type Desk struct {
	Ask     func(context.Context, hubwire.PolicyRequest) (hubwire.PolicyAnswer, error)
	HostKey string // the fingerprint that the hub's key must have
	Person  string // whose Key it is, or versions.Operator
	Key     versions.Signer
	Now     func() time.Time
	Trying  Trying
}

// Show is a version: number n, in force or waiting, or the newest for 0.
// Errors here are *problem.Problem where somebody can do something about them,
// and those of Ask.
func (d Desk) Show(ctx context.Context, n int) (Shown, error) {
	a, v, err := d.show(ctx, n)
	if err != nil {
		return Shown{}, err
	}
	s := Shown{Entry: entryOf(v), Text: string(a.File)}
	s.State = stateOf(a, v)
	if s.State == Waiting {
		s.Missing, s.Trial = a.Missing, a.Trial
	}
	return s, nil
}

func (d Desk) show(ctx context.Context, n int) (hubwire.PolicyAnswer, versions.Version, error) {
	a, err := d.ask(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicyShow, Number: n})
	if err != nil {
		return a, versions.Version{}, err
	}
	if len(a.Versions) != 1 {
		return a, versions.Version{}, errNone(a)
	}
	v, err := versions.Decode(a.Versions[0])
	if err != nil || n != 0 && v.Number != n || v.File != versions.HashOf(a.File) {
		return a, v, errAnswer("it is not the version that was asked for, or its file is another one", err)
	}
	return a, v, nil
}

// Log is every version, newest first, after the chain was followed from its
// beginning.
func (d Desk) Log(ctx context.Context) (Log, error) {
	var all []versions.Version
	var last *versions.Version
	for n := versions.First - 1; ; n = last.Number {
		a, err := d.ask(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicySince, Number: n})
		if err != nil {
			return Log{}, err
		}
		next, err := anchorOf(a).Read(last, a.Versions)
		if err != nil {
			return Log{}, errAnswer(err.Error(), err)
		}
		all = append(all, next...)
		if n+len(next) >= a.Newest.Number {
			return logOf(a, all)
		}
		if len(next) == 0 {
			return Log{}, errAnswer("it does not show what leads to the version in force", nil)
		}
		last = &all[len(all)-1]
	}
}

// Explain says why an event is taken or refused by the policy in force, or what
// a device may do in a space. Words are the event, or the device and the space.
func (d Desk) Explain(ctx context.Context, words []string) (Explained, error) {
	a, err := d.ask(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicyExplain, Words: words})
	if err != nil {
		return Explained{}, err
	}
	return Explained{Number: a.Newest.Number, Steps: append([]hubwire.PolicyStep{}, a.Steps...)}, nil
}

// Push makes file the next version as far as this desk's signature reaches. If
// it waits already it is approved; if it is in force already nothing happens.
// replace lets it take the place of another that waits.
func (d Desk) Push(ctx context.Context, file []byte, replace bool) (Changed, error) {
	return d.propose(ctx, file, 0, replace)
}

// Rollback makes the file of version n the next version.
func (d Desk) Rollback(ctx context.Context, n int, replace bool) (Changed, error) {
	a, v, err := d.show(ctx, n)
	if err != nil {
		return Changed{}, err
	}
	if n < versions.First || stateOf(a, v) == Waiting {
		return Changed{}, problem.New(problem.Usage, "going back takes the number of a version that was in force; \"policy log\" lists them")
	}
	return d.propose(ctx, a.File, n, replace)
}

func (d Desk) propose(ctx context.Context, file []byte, restores int, replace bool) (Changed, error) {
	facts, _, err := rules.CheckNew(file, d.Now())
	if err != nil {
		return Changed{}, fileProblem(err)
	}
	a, last, err := d.newest(ctx)
	if err != nil {
		return Changed{}, err
	}
	sum := versions.HashOf(file)
	if last != nil && last.File == sum {
		return Changed{Entry: entryOf(*last).in(Active), Already: true}, nil
	}
	if waiting, err := versions.Decode(a.Waiting); err == nil && waiting.File == sum && waiting.Restores == restores {
		return d.approve(ctx, a, last, waiting, file)
	}
	p := versions.Propose(a.Hub, last, file, facts.Team, facts.Admins, facts.Approvals)
	p.By, p.At, p.Restores = d.Person, event.NewTime(d.Now()), restores
	v := versions.Version{Proposal: p, Approved: []versions.Approval{p.Approve(d.Person, d.Key)}}
	return d.changed(d.ask(ctx, d.Trying.on(hubwire.PolicyRequest{Verb: hubwire.PolicyPropose, Version: versions.Encode(v), File: file, Replace: replace})))
}

// newest is the version in force, nil for none.
func (d Desk) newest(ctx context.Context) (hubwire.PolicyAnswer, *versions.Version, error) {
	a, err := d.ask(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicyShow})
	if err != nil || len(a.Versions) == 0 && a.Newest == hubwire.BuiltIn {
		return a, nil, err
	}
	if len(a.Versions) != 1 {
		return a, nil, errNone(a)
	}
	v, err := versions.Decode(a.Versions[0])
	if err != nil || v.Number != a.Newest.Number || v.Hash().String() != a.Newest.Hash {
		return a, nil, errAnswer("the version in force is not the one it names", err)
	}
	return a, &v, nil
}

// Approve signs the version that waits under number n. sum is the beginning of
// its file's hash if the caller wants to be sure which one that is.
func (d Desk) Approve(ctx context.Context, n int, sum string) (Changed, error) {
	a, last, err := d.newest(ctx)
	if err != nil {
		return Changed{}, err
	}
	if last != nil && last.Number == n {
		return Changed{Entry: entryOf(*last).in(Active), Already: true}, nil
	}
	waiting, err := versions.Decode(a.Waiting)
	switch {
	case len(a.Waiting) == 0 || err == nil && waiting.Number != n:
		return Changed{}, &problem.Problem{Code: problem.NotFound, Message: fmt.Sprintf("no proposal waits under the number %d", n), Hint: `"policy log" shows what waits`}
	case err != nil:
		return Changed{}, errAnswer("the proposal cannot be read", err)
	}
	shown, waiting, err := d.show(ctx, n)
	if err != nil {
		return Changed{}, err
	}
	if !strings.HasPrefix(waiting.File.String(), sum) {
		return Changed{}, problem.New(problem.Usage, "another file waits under that number than the one you named; nothing was signed")
	}
	return d.approve(ctx, a, last, waiting, shown.File)
}

// approve signs what waits, if it follows from last, the version in force, and
// is of its file in all that it says.
func (d Desk) approve(ctx context.Context, a hubwire.PolicyAnswer, last *versions.Version, v versions.Version, file []byte) (Changed, error) {
	if err := anchorOf(a).Place(last, v); err != nil {
		return Changed{}, errAnswer(err.Error(), err)
	}
	facts, err := rules.Check(file)
	if err != nil {
		return Changed{}, fileProblem(err)
	}
	if !v.Describes(file, facts.Team, facts.Admins, facts.Approvals) {
		return Changed{}, errAnswer("the proposal says of its file what the file does not say", nil)
	}
	signed, err := json.Marshal(v.Proposal.Approve(d.Person, d.Key))
	if err != nil {
		return Changed{}, fmt.Errorf("approve policy version %d: %w", v.Number, err)
	}
	return d.changed(d.ask(ctx, d.Trying.on(hubwire.PolicyRequest{Verb: hubwire.PolicyApprove, Number: v.Number, Approval: signed})))
}

// changed reads the answer to a signature.
func (d Desk) changed(a hubwire.PolicyAnswer, err error) (Changed, error) {
	if err != nil {
		return Changed{}, err
	}
	if len(a.Versions) != 1 {
		return Changed{}, errAnswer("it does not say what became of the proposal", nil)
	}
	v, err := versions.Decode(a.Versions[0])
	if err != nil {
		return Changed{}, errAnswer("it does not say what became of the proposal", err)
	}
	c := Changed{Entry: entryOf(v).in(stateOf(a, v))}
	c.Missing, c.Trial = a.Missing, a.Trial
	return c, nil
}

// ask makes sure that it is the hub's own key that everything hangs on.
func (d Desk) ask(ctx context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	a, err := d.Ask(ctx, r)
	if err != nil {
		return a, err
	}
	if hubwire.Fingerprint(a.Key) != d.HostKey {
		return a, errAnswer("it names another key than the hub's", nil)
	}
	return a, nil
}

func anchorOf(a hubwire.PolicyAnswer) versions.Anchor {
	return versions.Anchor{Hub: a.Hub, Key: a.Key}
}
