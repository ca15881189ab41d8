package rules

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"cairn/policy/scope"
	"cairn/policy/secrets"
)

// Rules are a policy file ready to judge by. They never change and are safe
// for concurrent use.
type Rules struct {
	file    *File
	options Options
	members map[string][]string // of each group
	jitter  []byte              // key of the team's spread
	blocks  *secrets.Scanner    // the built-in rules and all patterns
	stages  map[string]Pattern  // by id
	told    func(Exception)     // may be nil
}

// Options are what a policy file does not hold.
type Options struct {
	// Key is the team's key for fingerprints, as random as a password. Without
	// it no value is excused.
	Key []byte
	// Now is the clock by which exceptions and trials end; nil is the system's.
	Now func() time.Time
}

// An Exception is an entry of allow or off. No two of a file are the same, also
// where they stand on one line.
type Exception struct {
	Rule        string
	Fingerprint string // of the value; empty for a rule that is off
	Line        int
}

// Rules are those of the file. All that takes time was done by Parse.
func (f *File) Rules(o Options) *Rules {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Key = slices.Clone(o.Key)
	r := &Rules{file: f, options: o, members: f.Groups, blocks: secrets.New().With(f.own), stages: map[string]Pattern{}}
	team := sha256.Sum256([]byte("cairn-retention-v1\x00" + f.Team))
	r.jitter = team[:]
	for _, p := range f.Patterns {
		r.stages[p.ID] = p
	}
	return r
}

// Keyed says whether there is a key, without which no value is excused.
func (r *Rules) Keyed() bool { return len(r.options.Key) > 0 }

// File is what the rules were made from.
func (r *Rules) File() *File { return r.file }

// Telling are the same rules, which tell of each exception that excuses
// something, each time. The function is called by whoever scans.
func (r *Rules) Telling(told func(Exception)) *Rules {
	telling := *r
	telling.told = told
	return &telling
}

// Scanner looks for secrets as the policy has it in a space: with the team's
// patterns, and without what is excused there at this moment. No space stands
// for an object of which the space is not known: only what is excused
// everywhere is.
func (r *Rules) Scanner(space string) *secrets.Scanner {
	return r.blocks.Excusing(r.options.Key, r.excuse(space))
}

// excuse says what is excused in a space at this moment.
func (r *Rules) excuse(space string) secrets.Excuse {
	now := r.options.Now()
	return func(f secrets.Finding) bool {
		by, ok := r.file.excusedBy(f, space, now)
		if ok && r.told != nil {
			r.told(by)
		}
		return ok
	}
}

// counts says whether an exception that ends at until counts now. One that
// would last more than a year does not count yet.
func counts(until, now time.Time) bool {
	return now.Before(until) && until.Sub(now) <= longestEnd
}

// excusedBy is the entry that excuses a finding, and whether there is one.
func (f *File) excusedBy(found secrets.Finding, space string, now time.Time) (Exception, bool) {
	for _, o := range f.Off {
		if o.Rule == found.Rule && !found.Certain && counts(o.Until, now) {
			return o.Exception(), true
		}
	}
	for _, a := range f.Allow {
		if a.excuses(found, space) && counts(a.Until, now) {
			return a.Exception(), true
		}
	}
	return Exception{}, false
}

// excuses says whether an entry is for a finding in a space, whenever.
func (a Allow) excuses(f secrets.Finding, space string) bool {
	return a.Rule == f.Rule && a.Fingerprint == f.Fingerprint && f.Fingerprint != "" && a.isFor(space) && (a.Force || !f.Certain)
}

func (a Allow) isFor(space string) bool {
	return len(a.Spaces) == 0 || slices.Contains(a.Spaces, space)
}

// Stage says what a rule about secrets does at this moment.
func (r *Rules) Stage(rule string) Stage {
	p, ok := r.stages[rule]
	if ok && p.Stage == Report && counts(p.Until, r.options.Now()) {
		return Report
	}
	return Block
}

// Line is where in the file a pattern stands; 0 for a built-in rule.
func (r *Rules) Line(rule string) int { return r.stages[rule].Line }

// space is what the policy says of a space, and whether there is such a space
// for it.
func (r *Rules) space(name string) (*Space, bool) {
	if s := r.file.Spaces[name]; s != nil {
		return s, true
	}
	team := &Space{Name: name, Terms: r.file.Terms}
	if name == scope.Personal || r.file.Spaces == nil {
		return team, true
	}
	s := r.file.Spaces[defaultKey]
	return s, s != nil
}

// Limits are the sizes that the policy allows in a space.
func (r *Rules) Limits(space string) Limits {
	if s, ok := r.space(space); ok && space != scope.Local {
		return s.Limits
	}
	return Limits{}
}

// WritesPerHour is how many events a device may write to a space in an hour,
// 0 for no limit. Whoever counts them is the hub.
func (r *Rules) WritesPerHour(space string) int {
	if s, ok := r.space(space); ok && space != scope.Local {
		return s.WritesPerHour
	}
	return 0
}

// A Right is what a person may do in a space.
type Right string

// The rights.
const (
	Read   Right = "read"
	Write  Right = "write"
	Admin  Right = "admin"
	Redact Right = "redact"
)

// Rights lists them.
func Rights() []Right { return []Right{Read, Write, Admin, Redact} }

// May says whether the policy lets a person do something in a space. It only
// takes away: whether the person is a member at all, and whose personal space
// one is, is not in a policy. Whoever may administer a space may write to it,
// and whoever may do anything there may read. Where the file is silent, those
// of the team's admins administer who are named otherwise, and whoever may
// write redacts.
func (r *Rules) May(person, space string, right Right) bool {
	if r.file.Spaces == nil || space == scope.Personal || space == scope.Local {
		return true
	}
	s, ok := r.space(space)
	if !ok {
		return false
	}
	writes := r.names(s.Write, person) || r.names(s.Admin, person)
	redacts := r.names(s.Redact, person) || s.Redact == nil && writes
	reads := r.names(s.Read, person) || writes || redacts
	switch right {
	case Read:
		return reads
	case Write:
		return writes
	case Redact:
		return redacts
	case Admin:
		return r.names(s.Admin, person) || s.Admin == nil && reads && slices.Contains(r.file.Admins, person)
	}
	return false
}

// names says whether a list holds a person, by name or in a group.
func (r *Rules) names(list []string, person string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		group, isGroup := strings.CutPrefix(entry, groupPrefix)
		return entry == everyone || entry == person || isGroup && slices.Contains(r.members[group], person)
	})
}
