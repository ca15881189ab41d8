package policy

import (
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
	return With(number, f.Rules(rules.Options{Key: prints, Now: now})), nil
}
