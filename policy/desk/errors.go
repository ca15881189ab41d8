package desk

import (
	"errors"

	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/rules"
)

// errAnswer means that what the hub answered does not hold together.
func errAnswer(why string, err error) error {
	return &problem.Problem{
		Code: problem.Corrupt, Message: "what the hub answered about its policy cannot be trusted, and nothing was signed: " + why,
		Hint: "tell the hub's operator", Err: err,
	}
}

// errNone is about an answer that does not hold the one version asked for.
func errNone(a hubwire.PolicyAnswer) error {
	if a.Newest != hubwire.BuiltIn || len(a.Versions) > 0 {
		return errAnswer("it does not hold the version that was asked for", nil)
	}
	return &problem.Problem{
		Code: problem.NotFound, Message: "the team has written no policy: the built-in rules are in force",
		Hint: `"cairn policy push FILE" proposes one`,
	}
}

// fileProblem words what is wrong with a policy file.
func fileProblem(err error) error {
	bad, ok := errors.AsType[*rules.CheckError](err)
	if !ok {
		return err
	}
	return &problem.Problem{
		Code: problem.Policy, Message: bad.Error() + "; nothing was changed", Hint: `"cairn policy check FILE" lists every place`, Err: err,
	}
}
