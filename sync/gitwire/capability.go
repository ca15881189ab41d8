package gitwire

import (
	"slices"
	"strings"
)

// Agent is how this package calls itself to the other side.
const Agent = "agent=cairn/1"

// Capabilities are what a side can do or wants done: words such as "ofs-delta", or "agent=git/2.39".
type Capabilities []string

// ParseCapabilities splits a list as it stands behind the first ref or command.
func ParseCapabilities(text string) Capabilities { return strings.Fields(text) }

// String is the list as it is sent.
func (c Capabilities) String() string { return strings.Join(c, " ") }

// Has reports whether name is among them, with or without a value.
func (c Capabilities) Has(name string) bool {
	return slices.ContainsFunc(c, func(s string) bool {
		word, _, _ := strings.Cut(s, "=")
		return word == name
	})
}

// Value is the value of the first capability with this name, empty if there is none.
func (c Capabilities) Value(name string) string {
	for _, s := range c {
		if value, ok := strings.CutPrefix(s, name+"="); ok {
			return value
		}
	}
	return ""
}

// only returns those of names that are among c, in the order of names.
func (c Capabilities) only(names ...string) Capabilities {
	var both Capabilities
	for _, n := range names {
		if c.Has(n) {
			both = append(both, n)
		}
	}
	return both
}

// checkFormat refuses every hash but SHA-1.
func (c Capabilities) checkFormat() error {
	if f := c.Value("object-format"); f != "" && f != "sha1" {
		return &UnsupportedError{"a repository with the object format " + oneLine(f)}
	}
	return nil
}
