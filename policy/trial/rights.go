package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/policy/rules"
)

// A Change is what a person gains, or loses, in a space.
type Change struct {
	Person string        `json:"person"`
	Space  string        `json:"space"` // "default" for all that are not listed
	Gains  []rules.Right `json:"gains"`
	Loses  []rules.Right `json:"loses"`
}

func (c Change) String() string {
	var what []string
	for verb, rights := range map[string][]rules.Right{"gains": c.Gains, "loses": c.Loses} {
		if len(rights) > 0 {
			what = append(what, verb+" "+listed(rights))
		}
	}
	slices.Sort(what)
	return fmt.Sprintf("%s %s in %s", c.Person, strings.Join(what, ", "), c.Space)
}

func listed(rights []rules.Right) string {
	var words []string
	for _, r := range rights {
		words = append(words, string(r))
	}
	return strings.Join(words, ", ")
}

// Rights lists what the people whom the file of either names, and others who are
// known, gain and lose by the second, as far as a policy gives and takes. No
// rules before are those that take nothing.
func Rights(before, after *rules.Rules, others ...string) []Change {
	changes := []Change{}
	files := []*rules.File{after.File()}
	if before != nil {
		files = append(files, before.File())
	}
	for _, space := range spaces(files...) {
		for _, person := range people(others, files...) {
			c := Change{Person: person, Space: space, Gains: []rules.Right{}, Loses: []rules.Right{}}
			for _, right := range rules.Rights() {
				switch had, has := before == nil || before.May(person, space, right), after.May(person, space, right); {
				case has && !had:
					c.Gains = append(c.Gains, right)
				case had && !has:
					c.Loses = append(c.Loses, right)
				}
			}
			if len(c.Gains)+len(c.Loses) > 0 {
				changes = append(changes, c)
			}
		}
	}
	return changes
}

func spaces(files ...*rules.File) []string {
	names := map[string]bool{}
	for _, f := range files {
		for name := range f.Spaces {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func people(others []string, files ...*rules.File) []string {
	names := map[string]bool{}
	for _, person := range others {
		names[person] = true
	}
	for _, f := range files {
		for _, person := range f.People() {
			names[person] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
