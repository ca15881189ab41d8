package admin

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/policies"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/desk"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// maxVersions is how many versions one answer lists; a machine asks again.
const maxVersions = 500

// Policy answers what a machine, or whoever sits at the hub, asks about the
// policy. Every member may look; who may sign is for the version in force to
// say.
func (a *Admin) Policy(ctx context.Context, by Caller, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	var answer hubwire.PolicyAnswer
	var err error
	switch r.Verb {
	case hubwire.PolicySince:
		answer, err = a.policySince(r.Number)
	case hubwire.PolicyShow:
		answer, err = a.policyShow(r.Number)
		if err == nil {
			err = a.tryShown(ctx, by, r.Number, &answer)
		}
	case hubwire.PolicyReturn:
		answer, err = a.takeBack(ctx, by, r)
	case hubwire.PolicyExplain:
		answer.Steps, err = a.Explain(ctx, by, r.Words)
	case hubwire.PolicyPropose, hubwire.PolicyProposeStrictly:
		answer, err = a.propose(ctx, by, r)
	case hubwire.PolicyApprove, hubwire.PolicyApproveStrictly:
		answer, err = a.approve(ctx, by, r)
	default:
		err = problem.New(problem.Usage, "the hub knows no such question about its policy; is it of this version of cairn?")
	}
	if err != nil {
		return hubwire.PolicyAnswer{}, PolicyProblem(err)
	}
	return a.framed(answer)
}

// framed adds to an answer what each has.
func (a *Admin) framed(answer hubwire.PolicyAnswer) (hubwire.PolicyAnswer, error) {
	answer.Hub, answer.Key, answer.Newest = a.Hub, a.Key.Public(), hubwire.BuiltIn
	active, err := a.Policies.Active()
	if err != nil {
		return answer, PolicyProblem(err)
	}
	if active != nil {
		answer.Newest = hubwire.PolicyMark{Number: active.Number, Hash: active.Hash().String()}
	}
	waiting, err := a.Policies.Pending()
	if waiting == nil || err != nil {
		return answer, PolicyProblem(err)
	}
	answer.Waiting = versions.Encode(*waiting)
	answer.Missing, err = a.Policies.Missing(*waiting)
	return answer, PolicyProblem(err)
}

func (a *Admin) policySince(n int) (hubwire.PolicyAnswer, error) {
	list, err := a.Policies.Since(n, maxVersions)
	if err != nil || len(list) == 0 {
		return hubwire.PolicyAnswer{}, err
	}
	var answer hubwire.PolicyAnswer
	for _, v := range list {
		answer.Versions = append(answer.Versions, versions.Encode(v))
	}
	active, err := a.Policies.Active()
	if err != nil || active.Number != list[len(list)-1].Number {
		return answer, err
	}
	answer.File = active.Text
	answer.Prints, err = a.Policies.Prints()
	return answer, err
}

func (a *Admin) policyShow(n int) (hubwire.PolicyAnswer, error) {
	if n == 0 {
		active, err := a.Policies.Active()
		if active == nil || err != nil {
			return hubwire.PolicyAnswer{}, err
		}
		return hubwire.PolicyAnswer{Versions: [][]byte{versions.Encode(active.Version)}, File: active.Text}, nil
	}
	v, err := a.Policies.Version(n)
	if errors.Is(err, policies.ErrNone) {
		waiting, werr := a.Policies.Pending()
		if werr != nil {
			return hubwire.PolicyAnswer{}, werr
		}
		if waiting != nil && waiting.Number == n {
			v, err = *waiting, nil
		}
	}
	if err != nil {
		return hubwire.PolicyAnswer{}, err
	}
	file, err := a.Policies.File(v.Proposal.File)
	return hubwire.PolicyAnswer{Versions: [][]byte{versions.Encode(v)}, File: file}, err
}

// propose takes a version with one approval, which is the caller's own.
func (a *Admin) propose(ctx context.Context, by Caller, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	v, err := versions.Decode(r.Version)
	if err != nil || len(v.Approved) != 1 || len(v.Seal) > 0 {
		return hubwire.PolicyAnswer{}, errSigned
	}
	err = a.mayPropose(by, v)
	if err == nil {
		err = a.checkNew(r.File)
	}
	var done policies.State
	var tried *trying
	if err == nil {
		err = a.Policies.MayPropose(v.Proposal, r.File, r.Replace)
	}
	if err == nil {
		tried, err = a.try(ctx, by, r.File, r)
	}
	if err == nil {
		done, err = a.Policies.Propose(ctx, v.Proposal, r.File, v.Approved[0], r.Replace)
	}
	return a.tried(ctx, tried)(a.signed(by, "policy push", v.Number, done, err))
}

func (a *Admin) checkNew(text []byte) error {
	file, err := a.Policies.Parse(text)
	if err == nil {
		_, err = file.Fresh(a.Now())
	}
	return err
}

func (a *Admin) mayPropose(by Caller, v versions.Version) error {
	if err := a.isCallers(by, v.Approved[0]); err != nil {
		return err
	}
	if v.By != signerName(by) {
		return errSigned
	}
	if v.At.Sub(a.Now()) > event.MaxAhead {
		return problem.New(problem.Usage, "the proposal's time lies ahead of the hub's clock: set the clock of the machine that signs")
	}
	return a.enoughAdmins(v.Proposal)
}

// approve takes the caller's own approval of what waits.
func (a *Admin) approve(ctx context.Context, by Caller, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	var signed versions.Approval
	if err := json.Unmarshal(r.Approval, &signed); err != nil {
		return hubwire.PolicyAnswer{}, errSigned
	}
	err := a.isCallers(by, signed)
	var done policies.State
	var tried *trying
	if err == nil {
		tried, err = a.tryWaiting(ctx, by, r)
	}
	if err == nil {
		done, err = a.Policies.Approve(ctx, r.Number, signed)
	}
	return a.tried(ctx, tried)(a.signed(by, "policy approve", r.Number, done, err))
}

// takeBack takes the version after the one in force from a machine that had it,
// after the hub's folder was restored from a backup. The hub's own seal is on
// it, so it does not matter who brings it.
func (a *Admin) takeBack(ctx context.Context, by Caller, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	v, err := versions.Decode(r.Version)
	if err == nil {
		err = a.Policies.TakeBack(ctx, v, r.File)
	}
	return a.signed(by, "policy return", v.Number, policies.State{Version: v}, err)
}

// signed records a signature and says what became of the proposal.
func (a *Admin) signed(by Caller, action string, number int, done policies.State, err error) (hubwire.PolicyAnswer, error) {
	if err == nil && done.Missing == 0 {
		a.PolicyChanged()
	}
	err = PolicyProblem(err)
	rec := a.record(by, audit.Record{Action: action, Policy: number}, err)
	if err := errors.Join(err, rec); err != nil {
		return hubwire.PolicyAnswer{}, err
	}
	return hubwire.PolicyAnswer{Versions: [][]byte{versions.Encode(done.Version)}}, nil
}

func signerName(by Caller) string {
	if by.Person == "" {
		return versions.Operator
	}
	return by.Person
}

// isCallers says whether an approval is by the caller, with the key of the very
// device that sends it. The first version needs an admin of the hub; later ones
// are for the version in force to judge.
func (a *Admin) isCallers(by Caller, signed versions.Approval) error {
	if signed.Person != signerName(by) {
		return errSigned
	}
	if by.Person == "" {
		return nil // the hub's key, or the chain does not take it
	}
	m, err := a.Members.Now()
	if err != nil {
		return asProblem(err)
	}
	d, ok := m.Device(by.Device)
	if !ok || d.Revoked != nil || d.Person != by.Person || !d.Key.Equal(ed25519.PublicKey(signed.Key)) {
		return errSigned
	}
	return a.maySign(by)
}

// maySign says whether somebody is one of those who sign the next version.
func (a *Admin) maySign(by Caller) error {
	if by.Person == "" {
		return nil
	}
	m, err := a.Members.Now()
	if err != nil {
		return asProblem(err)
	}
	active, err := a.Policies.Active()
	if err == nil && active == nil && !m.IsAdmin(by.Person) {
		err = &problem.Problem{Code: problem.HubRefused, Message: "the first version of the policy comes from an admin of the hub, and " + by.Person + " is none", Hint: "ask one, or the hub's operator"}
	}
	if err == nil && active != nil && !slices.Contains(active.Admins, by.Person) {
		err = errNotPolicyAdmin(by.Person, active.Admins)
	}
	return err
}

// enoughAdmins refuses a version after which nobody could sign another: of its
// admins as many must be members, or be awaited, as have to approve; the
// operator counts as one.
func (a *Admin) enoughAdmins(p versions.Proposal) error {
	m, err := a.Members.Now()
	if err != nil {
		return asProblem(err)
	}
	there := 1
	var missing []string
	for _, name := range p.Admins {
		member := slices.ContainsFunc(m.People(), func(x devices.Member) bool { return x.Name == name && x.Revoked == nil })
		awaited := slices.ContainsFunc(m.Invites(), func(i devices.Invite) bool { return i.Person == name && i.Open(a.Now()) })
		if member || awaited {
			there++
		} else {
			missing = append(missing, name)
		}
	}
	if there >= p.Approvals {
		return nil
	}
	return &problem.Problem{
		Code:    problem.Policy,
		Message: fmt.Sprintf("after this version nobody could change the policy again: it asks for %d approvals, and the hub has no member %s", p.Approvals, missing),
		Hint:    "invite them first, or mend the names",
	}
}

// PolicyDesk is where whoever sits at the hub looks after the policy. It signs
// with the hub's key.
func (a *Admin) PolicyDesk() desk.Desk {
	return desk.Desk{
		Ask: func(ctx context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
			return a.Policy(ctx, Caller{}, r)
		},
		HostKey: a.HostKey, Person: versions.Operator, Key: a.Key, Now: a.Now,
	}
}

// runPolicy is what of the policy can be asked in words alone.
func (a *Admin) runPolicy(ctx context.Context, by Caller, args []string) (Result, error) {
	words, err := newFlags("policy").words(args, 1, 2)
	if err != nil {
		return nil, err
	}
	at := a.PolicyDesk()
	at.Ask = func(ctx context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
		return a.Policy(ctx, by, r)
	}
	switch {
	case words[0] == "log" && len(words) == 1:
		return result(at.Log(ctx))
	case words[0] == "show" && len(words) == 1:
		return result(at.Show(ctx, 0))
	case words[0] == "show":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return nil, usage("policy", "a version has a number")
		}
		return result(at.Show(ctx, n))
	}
	return nil, usage("policy", "a signature is made on the machine that holds the key: cairn policy push, approve or rollback")
}

var errSigned = &problem.Problem{
	Code: problem.HubRefused, Message: "the signature is not the caller's own, or the proposal has no proper form; nothing was changed",
	Hint: "sign with this machine's cairn: cairn policy push, approve or rollback",
}

func errNotPolicyAdmin(person string, admins []string) *problem.Problem {
	return &problem.Problem{
		Code: problem.HubRefused, Message: person + " is no admin of the policy in force; nothing was changed",
		Hint: fmt.Sprintf("ask one of them (%s), or the hub's operator", strings.Join(admins, ", ")),
	}
}

// PolicyProblem words an error of the policy for people; others, and what is
// worded already, stay as they are.
func PolicyProblem(err error) error {
	if _, worded := errors.AsType[*problem.Problem](err); worded || err == nil {
		return err
	}
	p := &problem.Problem{Code: problem.HubRefused, Message: err.Error() + "; nothing was changed", Err: err}
	corrupt, isCorrupt := errors.AsType[*policies.CorruptError](err)
	_, badChain := errors.AsType[*versions.ChainError](err)
	_, badFile := errors.AsType[*rules.CheckError](err)
	switch {
	case errors.Is(err, versions.ErrForm):
	case isCorrupt:
		p.Code, p.Message = problem.Corrupt, corrupt.Error()
	case errors.Is(err, policies.ErrNone):
		p.Code, p.Hint = problem.NotFound, `"policy log" lists them`
	case errors.Is(err, policies.ErrStale), errors.Is(err, policies.ErrOther):
		p.Code, p.Hint = problem.Busy, "look at it again, then give the command again"
	case errors.Is(err, policies.ErrWaiting):
		p.Code, p.Hint = problem.Busy, `"cairn policy log" shows it; approve it, or put yours in its place with --replace`
	case errors.Is(err, policies.ErrForce):
		p.Code, p.Hint = problem.Policy, "bring a version with approvals: 2 into force first, then one with the exception"
	case errors.Is(err, policies.ErrSame):
		p.Code = problem.Usage
	case badFile:
		p.Code, p.Hint = problem.Policy, `"cairn policy check FILE" lists every place`
	case badChain:
	default:
		return err
	}
	return p
}
