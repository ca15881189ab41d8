package policy

import (
	"fmt"
	"time"

	"cairn/policy/rules"
)

// Read is the policy of a team's file, as version number. prints is the team's
// key for fingerprints, nil if nothing is to be excused; now is the clock by
// which exceptions end. The error is a *rules.CheckError for a file that this
// program does not understand.
func Read(number int, file, prints []byte, now func() time.Time) (*Policy, error) {
	f, err := rules.Parse(file)
	if err != nil {
		return nil, err
	}
	r, err := f.Compile(rules.Options{Key: prints, Now: now})
	if err != nil {
		return nil, fmt.Errorf("read policy version %d: %w", number, err)
	}
	return With(number, r), nil
}
