package policies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/policy/versions"
)

// A State is what became of a proposal.
type State struct {
	versions.Version
	Missing int // approvals; none means that it is in force
}

// forceApprovals is how many must sign what excuses a value that is certain to
// be a secret. The file asks for as many of its next version; its own are asked
// for by the version before it.
const forceApprovals = 2

// Next is the proposal that would make file the next version. Errors: those of
// Parse and of Active, ErrSame, ErrForce.
func (s *Store) Next(file []byte) (versions.Proposal, error) {
	active, err := s.Active()
	if err != nil {
		return versions.Proposal{}, err
	}
	parsed, err := s.Parse(file)
	if err != nil {
		return versions.Proposal{}, err
	}
	facts := parsed.Summary()
	if facts.Forces && (active == nil || active.Approvals < forceApprovals) {
		return versions.Proposal{}, ErrForce
	}
	if active == nil {
		return versions.Propose(s.anchor.Hub, nil, file, facts.Team, facts.Admins, facts.Approvals), nil
	}
	if active.File == versions.HashOf(file) {
		return versions.Proposal{}, ErrSame
	}
	return versions.Propose(s.anchor.Hub, &active.Version, file, facts.Team, facts.Admins, facts.Approvals), nil
}

// Propose keeps a proposal with its first approval, or puts it into force if
// that one is enough. replace lets it take the place of one that waits.
// Errors: those of Next, ErrStale, ErrWaiting, *versions.ChainError.
func (s *Store) Propose(ctx context.Context, p versions.Proposal, file []byte, by versions.Approval, replace bool) (done State, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return State{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.MayPropose(p, file, replace); err != nil {
		return State{}, err
	}
	err = s.putFile(file)
	if err == nil {
		err = s.makePrints()
	}
	if err != nil {
		return State{}, err
	}
	return s.settle(versions.Version{Proposal: p, Approved: []versions.Approval{by}})
}

// MayPropose is the error that Propose would end with at this moment.
func (s *Store) MayPropose(p versions.Proposal, file []byte, replace bool) error {
	if err := s.isNext(p, file); err != nil {
		return err
	}
	waiting, err := s.Pending()
	if err == nil && waiting != nil && !replace && !sameProposal(waiting.Proposal, p) {
		err = ErrWaiting
	}
	return err
}

// isNext says whether p is the next version with that file.
func (s *Store) isNext(p versions.Proposal, file []byte) error {
	next, err := s.Next(file)
	if err != nil {
		return err
	}
	next.By, next.At, next.Restores = p.By, p.At, p.Restores
	if !sameProposal(next, p) {
		return ErrStale
	}
	if p.Restores == 0 {
		return nil
	}
	old, err := s.Version(p.Restores)
	if err == nil && old.File != p.File {
		err = &versions.ChainError{Number: p.Number, Reason: "it has another file than the version that it says it restores"}
	}
	return err
}

// Approve adds an approval to the proposal that waits under the number, and
// puts it into force if that was the last one missing. An approval that is
// there already changes nothing. Errors: ErrNone, ErrOther,
// *versions.ChainError.
func (s *Store) Approve(ctx context.Context, number int, by versions.Approval) (done State, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return State{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	waiting, err := s.Pending()
	switch {
	case err != nil:
		return State{}, err
	case waiting == nil || waiting.Number != number:
		return State{}, ErrNone
	case !by.Verify(waiting.Proposal):
		return State{}, ErrOther
	}
	v := *waiting
	for _, a := range v.Approved {
		if a.Person == by.Person {
			return s.settle(v)
		}
	}
	v.Approved = append(v.Approved, by)
	return s.settle(v)
}

// settle puts v into force if nothing is missing, and lets it wait otherwise.
func (s *Store) settle(v versions.Version) (State, error) {
	before, err := s.before()
	if err != nil {
		return State{}, err
	}
	missing, err := s.anchor.Missing(before, v)
	if err != nil {
		return State{}, err
	}
	if missing > 0 {
		return State{v, missing}, s.write(s.proposalPath(), v)
	}
	v = v.SealedAt(s.now(), before, s.key)
	if err := s.anchor.Check(before, v); err != nil {
		return State{}, err
	}
	if err := s.write(s.versionPath(v.Number), v); err != nil {
		return State{}, err
	}
	if _, err := s.Active(); err != nil {
		return State{}, err
	}
	return State{v, 0}, s.forgetProposal()
}

func (s *Store) before() (*versions.Version, error) {
	active, err := s.Active()
	if active == nil || err != nil {
		return nil, err
	}
	return &active.Version, nil
}

// Pending is the version that waits for approvals, nil for none. One whose
// number has been taken does not wait any more, nor one that somebody has signed
// who may not sign any more.
func (s *Store) Pending() (*versions.Version, error) {
	b, err := disk.ReadFile(s.fs, s.proposalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the policy proposal: %w", err)
	}
	v, err := versions.Decode(bytes.TrimSuffix(b, []byte("\n")))
	if err != nil {
		return nil, nil // nobody can sign it; the next one takes its place
	}
	before, err := s.before()
	if err != nil {
		return nil, err
	}
	if _, err := s.anchor.Missing(before, v); err != nil || before != nil && v.Previous != before.Hash() {
		return nil, nil
	}
	for _, a := range v.Approved {
		if stands, err := s.stands(a); err != nil || !stands {
			return nil, err
		}
	}
	return &v, nil
}

// Missing is how many approvals the version that waits still needs.
func (s *Store) Missing(v versions.Version) (int, error) {
	before, err := s.before()
	if err != nil {
		return 0, err
	}
	return s.anchor.Missing(before, v)
}

func (s *Store) putFile(file []byte) error {
	if err := disk.MakeDir(s.fs, filepath.Join(s.dir, filesDir), 0o700); err != nil {
		return fmt.Errorf("store a policy file: %w", err)
	}
	return atomicfile.Write(s.fs, s.filePath(versions.HashOf(file)), file, 0o600)
}

func (s *Store) write(path string, v versions.Version) error {
	return atomicfile.Write(s.fs, path, stored(v), 0o600)
}

// stored is a version as its file has it.
func stored(v versions.Version) []byte { return append(versions.Encode(v), '\n') }

// forgetProposal comes after a version was put into force. What is left if it
// fails counts for nothing.
func (s *Store) forgetProposal() error {
	err := s.fs.Remove(s.proposalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) lock(ctx context.Context) (unlock func() error, err error) {
	if err := disk.MakeDir(s.fs, s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("change the policy: %w", err)
	}
	lock, err := disk.Lock(ctx, filepath.Join(s.dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("change the policy: %w", err)
	}
	return lock.Unlock, nil
}

func sameProposal(a, b versions.Proposal) bool {
	return bytes.Equal(versions.Encode(versions.Version{Proposal: a}), versions.Encode(versions.Version{Proposal: b}))
}

// TakeBack puts a version into force that was in force here before and was
// lost: sealed, and the one that comes after the one in force. Errors:
// *versions.ChainError, *rules.CheckError.
func (s *Store) TakeBack(ctx context.Context, v versions.Version, file []byte) (err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	before, err := s.before()
	if err != nil {
		return err
	}
	if err := s.anchor.Check(before, v); err != nil {
		return err
	}
	parsed, err := s.Parse(file)
	if err != nil {
		return err
	}
	facts := parsed.Summary()
	if !v.Describes(file, facts.Team, facts.Admins, facts.Approvals) {
		return &versions.ChainError{Number: v.Number, Reason: "the file that came with it is another one, or does not say what it says of it"}
	}
	err = s.putFile(file)
	if err == nil {
		err = s.makePrints()
	}
	if err == nil {
		err = s.write(s.versionPath(v.Number), v)
	}
	if err != nil {
		return err
	}
	_, err = s.Active()
	return err
}
