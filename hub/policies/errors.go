package policies

import (
	"errors"
	"fmt"
)

// ErrNone means that there is no version or proposal of that number. List them.
var ErrNone = errors.New("there is no policy version of that number")

// ErrStale means that a proposal is not for the next version: another became
// active meanwhile. Look at it, then propose again.
var ErrStale = errors.New("another policy version became active meanwhile")

// ErrOther means that a signature is for another proposal than the one that
// waits. Look at it again before you sign.
var ErrOther = errors.New("another proposal waits under that number than the one that was signed")

// ErrWaiting means that somebody's proposal waits already. Approve it, or
// replace it knowingly.
var ErrWaiting = errors.New("another proposal waits for approvals")

// ErrSame means that the file is the one in force. There is nothing to do.
var ErrSame = errors.New("this policy file is in force already")

// ErrForce means that a file excuses what is certain to be a secret, and that
// one signature would do for it. First a version that asks for two is needed.
var ErrForce = errors.New("what is certain to be a secret is excused by two signatures, and the policy in force asks for one")

// A CorruptError reports versions that are missing, damaged or not signed as
// they must be. Nothing is judged by them; restore the folder.
type CorruptError struct {
	Dir string
	Err error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the policy versions in %s cannot be trusted, so nothing is taken: restore them from a backup: %v", e.Dir, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }
