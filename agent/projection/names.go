package projection

import (
	"slices"
	"strings"

	"cairn/internal/event"
)

// names keeps every distinct string once and gives it a number. The empty
// string has number 0.
type names struct {
	number map[string]uint32
	text   []string
}

func newNames() names {
	return names{number: map[string]uint32{"": 0}, text: []string{""}}
}

// add copies s before it keeps it, so that no caller's larger text is kept
// alive by it.
func (n *names) add(s string) uint32 {
	if i, ok := n.number[s]; ok {
		return i
	}
	s = strings.Clone(s)
	i := uint32(len(n.text))
	n.number[s] = i
	n.text = append(n.text, s)
	return i
}

// of is the number of s; false if s was never added.
func (n *names) of(s string) (uint32, bool) {
	i, ok := n.number[s]
	return i, ok
}

// anyCase tells the names that are one text in upper or lower case; all names
// if the text is empty.
type anyCase struct {
	text  string
	start bool // names that begin with it are meant as well
	known map[uint32]bool
}

func newAnyCase(text string) anyCase {
	if text == "" {
		return anyCase{}
	}
	return anyCase{text: text, known: map[uint32]bool{}}
}

// newDevice also tells a device by the start of its id.
func newDevice(text string) anyCase {
	a := newAnyCase(text)
	a.start = len(text) >= event.MinDeviceStart
	return a
}

func (a anyCase) is(n *names, number uint32) bool {
	if a.text == "" {
		return true
	}
	is, known := a.known[number]
	if !known {
		name := n.text[number]
		if a.start {
			name = name[:min(len(name), len(a.text))]
		}
		is = strings.EqualFold(name, a.text)
		a.known[number] = is
	}
	return is
}

// A tag list is kept as one name.
const tagSeparator = "\x00"

func joinTags(tags []string) string { return strings.Join(tags, tagSeparator) }

// hasTags says so of all tags; an empty one asks for nothing.
func hasTags(joined string, tags []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return tag != "" && !hasTag(joined, tag) })
}

func hasTag(joined, tag string) bool {
	for t := range strings.SplitSeq(joined, tagSeparator) {
		if strings.EqualFold(t, tag) {
			return true
		}
	}
	return false
}
