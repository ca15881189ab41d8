package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"cairn/internal/event"
	"cairn/internal/invite"
	"cairn/policy/secrets"
)

// A File is a policy file that was read and is valid.
type File struct {
	Team      string
	Admins    []string // sign versions of the policy
	Approvals int      // of admins that a new version needs, 1 or 2
	Groups    map[string][]string
	Terms               // for every space; a space's own are as strict or stricter
	Patterns  []Pattern // beside the built-in rules about secrets
	Allow     []Allow
	Off       []Off
	// Spaces are those the file names, and "default" for all others. Nil means
	// that it says nothing of spaces, and membership alone decides.
	Spaces map[string]*Space
	own    *secrets.Patterns
}

// A Summary is what those need to know of a policy file who do not judge by it.
type Summary struct {
	Team      string
	Admins    []string // sign versions of the policy
	Approvals int      // of admins that a new version needs, 1 or 2
	Forces    bool     // it excuses what is certain to be a secret
}

// Check reads a policy file and says who may change it. The error is a
// *CheckError with all that is wrong.
func Check(src []byte) (Summary, error) {
	f, err := Parse(src)
	if err != nil {
		return Summary{}, err
	}
	return f.Summary(), nil
}

// Summary is what the file says of itself.
func (f *File) Summary() Summary {
	forces := slices.ContainsFunc(f.Allow, func(a Allow) bool { return a.Force })
	return Summary{Team: f.Team, Admins: slices.Clone(f.Admins), Approvals: f.Approvals, Forces: forces}
}

// Parse reads a policy file. The error is a *CheckError with all that is
// wrong.
func Parse(src []byte) (*File, error) {
	c := &checker{scanner: secrets.New(), hidden: map[int]bool{}}
	f := &File{}
	if root := c.document(src); root != nil {
		if top, ok := c.section("", root, topKeys...); ok {
			f.read(top)
		}
	}
	if len(c.found) == 0 {
		f.ready(c)
	}
	if err := checked(c.found); err != nil {
		return nil, err
	}
	return f, nil
}

// ready puts the patterns together, which have been tried one by one.
func (f *File) ready(c *checker) {
	var all []secrets.Pattern
	for _, p := range f.Patterns {
		all = append(all, p.Pattern)
	}
	var err error
	if f.own, err = secrets.NewPatterns(all...); err != nil {
		c.say(1, 1, "the patterns cannot be looked for together")
	}
}

var topKeys = append([]string{"version", "team", "admins", "approvals", "groups", "secrets", "spaces"}, termKeys...)

// read goes through the parts in the order in which they need each other.
func (f *File) read(top section) {
	f.head(top)
	f.groups(top)
	f.Terms = top.terms(nil)
	f.secretsPart(top)
	f.spacesPart(top)
}

// maxApprovals is how many admins can be asked to agree to a new version.
const maxApprovals = 2

// head reads what says whose the file is.
func (f *File) head(s section) {
	s.need("version", "team", "admins")
	read(s, "version", "1", func(text string) (int, error) {
		if text != "1" {
			return 0, errors.New("is a version of the format that this cairn does not know; it knows 1")
		}
		return 1, nil
	})
	f.Team = read(s, "team", "the team's name", func(text string) (string, error) {
		if !event.ValidSpaceName(text) {
			return "", errors.New("is no name: use lower-case letters, digits and dashes, 63 at most")
		}
		return text, nil
	})
	f.Admins = s.words("admins", "people", validPerson)
	f.Approvals = 1
	if n := s.value["approvals"]; n != nil {
		f.Approvals = read(s, "approvals", "1 or 2", wholeNumber(1, maxApprovals))
		if f.Approvals > len(f.Admins) && len(f.Admins) > 0 {
			s.at(n, "approvals", "%d are asked for, and there is only %d admin", f.Approvals, len(f.Admins))
		}
	}
}

func validPerson(text string) error {
	if !invite.ValidPerson(text) {
		return errors.New("is no person: names are lower-case letters, digits and dashes, 39 at most")
	}
	return nil
}

func wholeNumber(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
		}
		return n, nil
	}
}
