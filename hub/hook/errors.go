package hook

import (
	"errors"

	"cairn/internal/commitform"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
)

// errNoQuarantine says that git did not name a place where a push waits. Taking
// it unseen would be no gate.
var errNoQuarantine = &problem.Problem{
	Code:    problem.Foreign,
	Message: "git names no quarantine, so what was pushed cannot be looked at",
	Hint:    "run this as a pre-receive hook of git 2.11 or newer",
}

var errNamespace = &problem.Problem{
	Code:    problem.Foreign,
	Message: "the push is to a namespace within a repository, and a space is a repository of its own",
	Hint:    "serve each space from its own repository, without GIT_NAMESPACE",
}

// errUnreadable says that what git says on standard input is not what it says
// to a pre-receive hook. The input is not repeated: names in it are a stranger's.
var errUnreadable = &problem.Problem{
	Code:    problem.Foreign,
	Message: "git's list of refs is not understood",
	Hint:    "run this as a pre-receive hook; a server in front of it must pass standard input on, and its repositories must use SHA-1",
}

// ErrTooLong says that the push could not be judged in time.
var ErrTooLong = &problem.Problem{
	Code:    problem.Busy,
	Message: "the push took too long to be looked at",
	Hint:    "push fewer events at once, oldest first",
}

// errHalfway stands for a panic, whose words could be a stranger's.
var errHalfway = errors.New("the push could not be looked at to the end")

// asProblem words what is wrong with the repository for whoever pushes to it.
// Any other error stays as it is.
func asProblem(err error) error {
	p := &problem.Problem{Hint: "tell the operator of the git server", Err: err}
	switch {
	case errors.Is(err, gitstore.ErrDetached):
		p.Code, p.Message = problem.Detached, "HEAD of this repository is not on the branch main, so nothing is taken"
		p.Hint = "the operator of the git server runs: git symbolic-ref HEAD refs/heads/main"
	case errors.Is(err, gitstore.ErrNotRepository), problem.IsA[*gitstore.ForeignFormatError](err):
		p.Code, p.Message = problem.Foreign, "this is not a plain bare repository, so nothing is taken"
	case errors.Is(err, commitform.ErrForeign):
		p.Code, p.Message = problem.Foreign, "the branch main of this repository is not a space of cairn, so nothing is taken"
		p.Hint = "begin with an empty repository: one that was made with a first file of its own cannot become a space"
	case errors.Is(err, gitstore.ErrShallow), errors.Is(err, gitstore.ErrPartialClone):
		p.Code, p.Message = problem.Shallow, "this is not a whole repository, so nothing is taken"
	case problem.IsA[*gitstore.GarbledRefError](err):
		p.Code, p.Message = problem.GarbledRef, "a branch of this repository is garbled, so nothing is taken"
	case problem.IsA[*commitform.NewerFormatError](err):
		p.Code, p.Message = problem.NewerSchema, "this space was made by a newer cairn: the hook must be upgraded"
	default:
		return err
	}
	return p
}
