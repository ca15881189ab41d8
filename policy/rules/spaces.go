package rules

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"cairn/internal/event"
	"cairn/policy/scope"
)

// A Space is what a policy says of one space: who may do what, and on which
// terms.
type Space struct {
	Name string
	Terms
	// Read, Write, Admin and Redact list people, group:NAME and "*". Admin and
	// Redact are nil where the file is silent.
	Read, Write, Admin, Redact []string
	Line                       int
}

const (
	maxSpaces  = 1000
	defaultKey = "default" // stands for every space that is not listed
)

// spacesPart reads what a file says of spaces.
func (f *File) spacesPart(top section) {
	n := top.value["spaces"]
	if n == nil {
		return
	}
	s, ok := top.section("spaces", n)
	if !ok {
		return
	}
	f.Spaces = map[string]*Space{}
	s.entries(func(key, value *yaml.Node) {
		switch {
		case !event.ValidSpaceName(key.Value):
			s.at(key, s.where, "%s is no name of a space: use lower-case letters, digits and dashes, 63 at most", s.quote(key))
		case key.Value == scope.Local:
			s.at(key, s.where, "local never leaves a machine, a team's policy does not reach it")
		case len(f.Spaces) == maxSpaces:
			s.at(key, s.where, "there are more than %d", maxSpaces)
		default:
			f.Spaces[key.Value] = f.space(top.checker, key, value)
		}
	})
}

func (f *File) space(c *checker, key, n *yaml.Node) *Space {
	where := "space " + key.Value
	if c.quote(key) == unnamed {
		where = "a space"
	}
	space := &Space{Name: key.Value, Line: key.Line, Terms: f.Terms}
	s, ok := c.section(where, n, append([]string{"read", "write", "admin", "redact", "classification"}, termKeys...)...)
	if !ok {
		return space
	}
	space.Terms = s.terms(&f.Terms)
	s.classes(&space.Terms, key.Value)
	if key.Value == scope.Personal {
		for _, right := range []string{"read", "write", "admin", "redact"} {
			if k := s.keys[right]; k != nil {
				s.at(k, s.where, "%s: it belongs to one person, nobody else has rights in it", right)
			}
		}
		return space
	}
	s.need("read", "write")
	space.Read, space.Write = f.people(s, "read"), f.people(s, "write")
	space.Admin, space.Redact = f.people(s, "admin"), f.people(s, "redact")
	return space
}

// classes reads which classes of event a space takes: of those that may stand
// in it, fewer.
func (s section) classes(t *Terms, space string) {
	n := s.value["classification"]
	if n == nil {
		return
	}
	for _, text := range s.words("classification", "classes", func(text string) error {
		class, err := parseClass(text)
		if err == nil && scope.Allowed(space, class) != nil {
			err = fmt.Errorf("events may not stand here: private ones belong in personal, secret ones in local")
		}
		return err
	}) {
		t.Classes = append(t.Classes, event.Classification(text))
	}
	slices.Sort(t.Classes)
	t.lines["classification"] = n.Line
}
