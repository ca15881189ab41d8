package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/gate"
	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/intake"
)

// A Pusher is who pushes, and how what they push is judged.
type Pusher struct {
	Device event.DeviceID
	Person string
	// Judge returns the judge of what arrived. It is asked when all has
	// arrived, which may be long after the push began, and again if another
	// judgement is in force when the branch is about to move. An error refuses
	// the push.
	Judge func() (Judge, error)
	Pack  gitstore.Limits // of this push, where they are lower than the hub's; zero for none
	// Refused is called when a push is refused before all of it has arrived, and
	// the rest is read and thrown away; nil for nobody.
	Refused func()
	Caps    []string // shown in the advert besides git's and the lease
}

func (p Pusher) refused() {
	if p.Refused != nil {
		p.Refused()
	}
}

// A Judge judges one push.
type Judge struct {
	// Admit and Raw are as in intake.Options.
	Admit func(event.Event) []intake.Finding
	Raw   func(plumbing.ObjectType, []byte) []intake.Finding
	// Stands says whether this judgement is still the one in force; nil for
	// always.
	Stands func() (bool, error)
	// Taken is told how many events were taken; nil for nobody.
	Taken func(events int)
}

func (j Judge) stands() (bool, error) {
	if j.Stands == nil {
		return true, nil
	}
	return j.Stands()
}

// An Outcome is what became of a push, for the record. It holds nothing of
// what was refused.
type Outcome struct {
	Asked  bool          // for anything at all
	Ref    string        // that was asked for, if it is one that can be
	Taken  bool          // it is in the history now
	Head   plumbing.Hash // of the branch afterwards, if it was taken
	Events []event.ID    // that are new, or that were refused by name
	Rules  []string      // that were broken
	// Objects is how many arrived, and Judging how long they were looked at: 0
	// if it did not come to that.
	Objects int
	Judging time.Duration
}

// ServePush is git-receive-pack on the stream. A refused push is no error: the
// client was told. Errors: a *problem.Problem about the repository, those of
// the stream, the context's.
func (r *Repository) ServePush(ctx context.Context, stream hubwire.Stream, by Pusher) (_ Outcome, err error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return Outcome{}, err
	}
	caps, err := r.lease(by)
	if err != nil {
		return Outcome{}, err
	}
	if err := gitwire.Advertise(stream, refs, "", append(caps, by.Caps...)); err != nil {
		return Outcome{}, err
	}
	req, err := gitwire.ReadPush(ctx, stream, gitwire.PushCaps)
	reply := gitwire.NewPushReply(stream, req)
	defer func() { err = errors.Join(err, reply.Close()) }()
	if problem.IsA[*gitwire.ProtocolError](err) || problem.IsA[*gitwire.UnsupportedError](err) {
		by.refused()
		return Outcome{Asked: true, Rules: []string{"protocol"}}, reply.Fatal(err.Error())
	}
	if err != nil || len(req.Commands) == 0 {
		return Outcome{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.set.limits.Whole, errTooLong)
	defer cancel()
	p := &push{r: r, req: req, reply: reply, stream: stream, by: by, out: Outcome{Asked: true}}
	// What waits for a client to read or to write ends no other way.
	defer context.AfterFunc(ctx, func() { p.hangUp(context.Cause(ctx)) })()
	err = p.serve(ctx)
	return p.out, err
}

// push is one push, from its commands to its report.
type push struct {
	r      *Repository
	req    *gitwire.PushRequest
	reply  *gitwire.PushReply
	stream hubwire.Stream
	by     Pusher
	epoch  plumbing.Hash // when it was judged
	out    Outcome
}

func (p *push) serve(ctx context.Context) (err error) {
	leave, err := p.r.set.arrivals.enter(ctx, p.by)
	if errors.Is(err, errManyPushes) {
		p.broke(string(errManyPushes.Code))
	}
	if err != nil {
		return err
	}
	defer leave()
	q, err := p.r.log.Store().Quarantine()
	if err != nil {
		return asProblem(err)
	}
	// Whatever happens, nothing stays in quarantine.
	defer func() { err = errors.Join(err, q.Discard()) }()
	head, epoch, err := p.r.tips(ctx)
	if err != nil {
		return asProblem(err)
	}
	p.epoch = epoch
	cmd, nos := checkCommands(p.req.Commands, head.Commit)
	if p.req.HasPack() {
		if err := p.receive(ctx, q); err != nil {
			return p.badPack(err)
		}
	}
	tell, err := p.look(ctx, q, cmd, nos)
	if err != nil {
		return err
	}
	return tell()
}

// look looks at what has arrived, and lands it if it is good. It returns how to
// tell what became of it: few are looked at at once, and no client holds up the
// others by the time that it takes to send, or to listen.
func (p *push) look(ctx context.Context, q *gitstore.Quarantine, cmd gitwire.Command, nos []*no) (tell func() error, err error) {
	leave, err := p.r.set.looks.enter(ctx, p.by)
	if err != nil {
		return nil, err
	}
	defer leave()
	if p.req.HasPack() {
		if err := q.Resolve(ctx); err != nil {
			return func() error { return p.badPack(err) }, nil
		}
	}
	p.out.Objects = q.Received()
	if slices.ContainsFunc(nos, func(n *no) bool { return n != nil }) {
		return func() error { return p.refuseRefs(nos) }, nil
	}
	p.out.Ref = cmd.Ref
	for range maxJudged {
		if tell, err := p.judge(ctx, q, cmd); err != nil || tell != nil {
			return tell, err
		}
	}
	return func() error { return p.refuseLanding(cmd, noLonger) }, nil
}

// maxJudged is how often a push is judged because members or policy changed meanwhile.
const maxJudged = 5

// judge judges what arrived and lands it. There is nothing to tell if another
// judgement came into force before the branch moved.
func (p *push) judge(ctx context.Context, q *gitstore.Quarantine, cmd gitwire.Command) (tell func() error, err error) {
	judge, err := p.by.Judge()
	if err != nil {
		return nil, err
	}
	findings, err := p.check(ctx, q, cmd, judge)
	if err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return func() error { return p.refuseFindings(findings) }, nil
	}
	return p.take(ctx, q, cmd, judge)
}

// hangUp ends a read or write that waits for the client, which is told why.
func (p *push) hangUp(why error) {
	if err := p.stream.CloseWith(why); err != nil {
		p.r.set.log.Debug("hang up on a push", "err", err)
	}
}

// receive brings the pack into quarantine. A push of whose refs none is taken
// is received as well: the client cannot hear an answer before it has sent
// everything.
func (p *push) receive(ctx context.Context, q *gitstore.Quarantine) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := watch(p.stream, p.r.set.limits.Stall, func() {
		cancel(errStalled)
		p.hangUp(errStalled)
	})
	defer in.stop()
	err := q.Arrive(ctx, in, p.r.set.limits.Lower(p.by.Pack))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// badPack answers a pack that could not be taken.
func (p *push) badPack(err error) error {
	limit, tooBig := errors.AsType[*gitstore.LimitError](err)
	bad, broken := errors.AsType[*gitstore.BadPackError](err)
	var why problem.Problem
	switch {
	case tooBig:
		why = problem.Problem{Code: problem.TooBig, Rule: hubwire.RuleLimit, Message: limit.Error(), Hint: "push fewer events at once, oldest first"}
		p.reply.Message(hubwire.Refusal{Rule: hubwire.RuleLimit}.String())
	case broken && !errors.Is(bad, io.ErrUnexpectedEOF):
		why = problem.Problem{Code: problem.HubRefused, Rule: "pack", Message: bad.Error(), Hint: "run git fsck in your repository, then push again"}
	default:
		return err
	}
	p.out.Rules = []string{why.Rule}
	p.reply.Message("cairn: " + why.Message + "\ncairn: " + why.Hint)
	if err := p.report(why.Message, "the pack was not taken"); err != nil {
		return err
	}
	return p.drain(&why)
}

// maxDrained is how much of a pack is thrown away.
const maxDrained = 8 << 20

// drain reads what a client still sends, or it may not hear the answer. After a
// while it hangs up, and says why once more.
func (p *push) drain(why error) error {
	p.by.refused()
	in := watch(p.stream, p.r.set.limits.Stall, func() { p.hangUp(errStalled) })
	defer in.stop()
	_, err := io.CopyN(io.Discard, in, maxDrained)
	if err == nil {
		p.hangUp(why)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func (p *push) check(ctx context.Context, q *gitstore.Quarantine, cmd gitwire.Command, judge Judge) ([]intake.Finding, error) {
	gone, err := p.r.log.Purged()
	if err != nil {
		return nil, asProblem(err)
	}
	start := time.Now()
	defer func() { p.out.Judging = time.Since(start) }()
	report, err := intake.Check(ctx, q, []plumbing.Hash{cmd.New}, intake.Options{
		Space: p.r.Space(), Admit: judge.Admit, Raw: judge.Raw, Known: p.r.log.Store().Has, Purged: gone,
	})
	if err != nil {
		return nil, fmt.Errorf("check a push: %w", err)
	}
	p.out.Events = report.Events
	return report.Findings, nil
}

// refuseFindings tells every finding.
func (p *push) refuseFindings(findings []intake.Finding) error {
	p.out.Events = nil
	for _, f := range findings {
		p.broke(f.Rule)
		if f.Event != "" {
			p.out.Events = append(p.out.Events, f.Event)
		}
	}
	for _, line := range gate.Lines(findings) {
		p.reply.Message(line)
	}
	return p.report("", found(len(findings)))
}

func found(n int) string {
	if n == 1 {
		return "1 finding, see the lines above"
	}
	return fmt.Sprintf("%d findings, see the lines above", n)
}

// report ends the push with one reason for all its refs; none is success.
func (p *push) report(unpack, reason string) error {
	var results []gitwire.Result
	for _, c := range p.req.Commands {
		results = append(results, gitwire.Result{Ref: c.Ref, Reason: reason})
	}
	return p.reply.Report(unpack, results)
}

// refuseRefs answers a push that names what cannot be pushed.
func (p *push) refuseRefs(nos []*no) error {
	var results []gitwire.Result
	said := map[string]bool{}
	for i, c := range p.req.Commands {
		results = append(results, gitwire.Result{Ref: c.Ref, Reason: nos[i].reason})
		p.broke(nos[i].rule)
		if advice := nos[i].advice; advice != "" && !said[advice] {
			said[advice] = true
			p.reply.Message("cairn: " + advice)
		}
	}
	return p.reply.Report("", results)
}

func (p *push) broke(rule string) {
	if !slices.Contains(p.out.Rules, rule) {
		p.out.Rules = append(p.out.Rules, rule)
	}
}

// take lands the push. There is nothing to tell if it must be judged anew first.
func (p *push) take(ctx context.Context, q *gitstore.Quarantine, cmd gitwire.Command, judge Judge) (tell func() error, err error) {
	start := time.Now()
	done, refused, err := p.r.land(&landing{
		ctx: ctx, q: q, cmd: cmd, by: claimantOf(p.by.Device, p.req.Options), epoch: p.epoch, stands: judge.stands,
	})
	switch {
	case err != nil:
		return nil, asProblem(err)
	case refused == noLonger:
		return nil, nil
	case refused != nil:
		return func() error { return p.refuseLanding(cmd, refused) }, nil
	}
	if judge.Taken != nil {
		judge.Taken(len(p.out.Events))
	}
	p.r.set.log.Debug("landed a push", "space", p.r.Space().Name, "took", time.Since(start))
	return func() error { return p.tellTaken(cmd, done) }, nil
}

// refuseLanding answers a push that could not become part of the history.
func (p *push) refuseLanding(cmd gitwire.Command, refused *no) error {
	if refused == noClone {
		return p.refuseFindings([]intake.Finding{{Rule: refused.rule, Hint: refused.advice}})
	}
	if refused.event != "" {
		f := intake.Finding{Rule: refused.rule, Commit: cmd.New, Path: commitform.Path(refused.event), Event: refused.event, Hint: refused.advice}
		return p.refuseFindings([]intake.Finding{f})
	}
	p.broke(refused.rule)
	p.reply.Message("cairn: " + refused.advice)
	return p.report("", refused.reason)
}

// tellTaken answers a push that was taken.
func (p *push) tellTaken(cmd gitwire.Command, done landed) error {
	p.out.Taken, p.out.Head = true, done.head
	if done.merged {
		p.reply.Message(fmt.Sprintf("cairn: joined with what came before, main is now %s; git pull --ff-only brings it", done.head))
	}
	result := gitwire.Result{Ref: cmd.Ref}
	if cmd.Ref == ForMain && done.head == cmd.New {
		result.Landed = &gitwire.Command{Old: done.old, New: done.head, Ref: event.MainRef}
	}
	return p.reply.Report("", []gitwire.Result{result})
}
