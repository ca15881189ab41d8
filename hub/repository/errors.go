package repository

import (
	"errors"
	"io/fs"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

// ErrNoSpace says that there is no such space for the caller. It hides whether
// one exists from whoever may not read it.
var ErrNoSpace = &problem.Problem{
	Code:    problem.NotFound,
	Message: "this hub has no space of that name that you may use",
	Hint:    `"ssh HUB spaces" lists yours; an admin makes one with "cairn hub spaces create NAME" and gives rights with "cairn hub grant"`,
}

// asProblem words what is wrong with a repository of the hub for its users.
// Any other error stays as it is.
func asProblem(err error) error {
	const operator = "nothing was changed; tell the hub's operator, who can look with git fsck"
	p := &problem.Problem{Hint: operator, Err: err}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoSpace
	case errors.Is(err, gitstore.ErrDetached):
		p.Code, p.Message = problem.Detached, "HEAD of this space is detached at the hub, so nothing is taken"
		p.Hint = "the hub's operator runs: git symbolic-ref HEAD refs/heads/main"
	case errors.Is(err, eventlog.ErrUnborn), errors.Is(err, gitstore.ErrNotRepository):
		p.Code, p.Message = problem.Corrupt, "this space has lost its history at the hub"
	case errors.Is(err, gitstore.ErrShallow), errors.Is(err, gitstore.ErrPartialClone):
		p.Code, p.Message = problem.Shallow, "this space is not a whole repository at the hub"
	case problem.IsA[*gitstore.GarbledRefError](err):
		p.Code, p.Message = problem.GarbledRef, "a branch of this space is garbled at the hub"
	case problem.IsA[*commitform.NewerFormatError](err):
		p.Code, p.Message = problem.NewerSchema, "this space was made by a newer cairn: upgrade the hub"
	case problem.IsA[*gitstore.ForeignFormatError](err), problem.IsA[*eventlog.ForeignError](err), errors.Is(err, commitform.ErrForeign):
		p.Code, p.Message = problem.Foreign, "what lies at the hub under this name is not this space"
	case problem.IsA[*disk.LockedError](err), problem.IsA[*gitstore.RefLockedError](err), errors.Is(err, gitstore.ErrRefChanged):
		p.Code, p.Message = problem.Busy, "another program is writing to this space at the hub"
		p.Hint = "nothing was changed; try again"
	default:
		return err
	}
	return p
}

// errStalled gives up a push whose sender says nothing any more.
var errStalled = &problem.Problem{
	Code:    problem.Busy,
	Message: "nothing arrived for a long time, so the push was given up",
	Hint:    "nothing was stored; push again",
}

// errManyPushes refuses what would only wait.
var errManyPushes = &problem.Problem{
	Code:    problem.Busy,
	Message: "this device is pushing several times already",
	Hint:    "nothing was stored; push again when the others have ended",
}

// errTooLong gives up a push that holds its place for too long. Cairn then
// sends less at once.
var errTooLong = &problem.Problem{
	Code:    problem.Busy,
	Rule:    hubwire.RuleLimit,
	Message: "the push took too long and was given up",
	Hint:    "nothing was stored; push fewer events at once, oldest first",
}
