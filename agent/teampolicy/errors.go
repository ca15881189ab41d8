package teampolicy

import "fmt"

// A BackwardsError reports a hub whose policy is older than, or another than,
// the one this machine has had from it: restored from a backup, or tampered
// with. The machine keeps what it has.
type BackwardsError struct {
	Have, Shown int // numbers
}

func (e *BackwardsError) Error() string {
	if e.Have == e.Shown {
		return fmt.Sprintf("the hub shows another policy version %d than the one that this machine had from it; it is not taken", e.Shown)
	}
	return fmt.Sprintf("the hub shows policy version %d, and this machine had version %d from it; it stays in force here", e.Shown, e.Have)
}

// A DamagedError reports a kept policy that cannot be read. The built-in rules
// are in force until the next sync brings the policy again.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the team's policy in %s cannot be read: the built-in rules are in force until the next sync brings it again: %v", e.Path, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
