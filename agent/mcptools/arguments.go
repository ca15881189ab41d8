package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/internal/problem"
)

// A schema is the flat kind of JSON schema that our tools publish for their
// arguments. What a client is told and what is checked are one text.
type schema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        string    `json:"type"`
	Enum        []string  `json:"enum"`
	Items       *property `json:"items"`
	Description string    `json:"description"`
}

// check reads the arguments of a call and returns them without those that are
// null, which some models send for what they leave out. A message names the
// argument and says what to give; it never repeats what was given.
func (s schema) check(tool string, raw json.RawMessage) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return nil, wrongUse("arguments", "the arguments of %s must be an object: %s", tool, s.list())
	}
	maps.DeleteFunc(args, func(_ string, v json.RawMessage) bool { return bytes.Equal(v, []byte("null")) })
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p, known := s.Properties[name]
		if !known {
			return nil, wrongUse(plainArgument(name), "%s has no argument %s: %s", tool, plainArgument(name), s.list())
		}
		if want := p.fault(args[name]); want != "" {
			return nil, wrongUse(name, "the argument %s of %s must be %s", name, tool, want)
		}
	}
	for _, name := range s.Required {
		if _, given := args[name]; !given {
			return nil, wrongUse(name, "%s needs the argument %s: %s", tool, name, s.Properties[name].Description)
		}
	}
	return json.Marshal(args)
}

// list names the arguments there are, those that are needed first.
func (s schema) list() string {
	if len(s.Properties) == 0 {
		return "it takes none"
	}
	needed, rest := slices.Clone(s.Required), []string(nil)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(needed, name) {
			rest = append(rest, name)
		}
	}
	words := "it takes " + strings.Join(append(needed, rest...), ", ")
	if len(needed) > 0 {
		words += " (needed: " + strings.Join(needed, ", ") + ")"
	}
	return words
}

// fault says what value should have been; it is empty if value is right.
func (p property) fault(value json.RawMessage) string {
	switch p.Type {
	case "string":
		return p.stringFault(value)
	case "boolean":
		return unlessInto[bool](value, "true or false")
	case "integer":
		return unlessInto[int](value, "a whole number")
	case "array":
		return unlessInto[[]string](value, "a list of texts")
	}
	return "left out" // a schema of ours with another type would be our fault
}

func (p property) stringFault(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "a text"
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
		return "one of " + strings.Join(p.Enum, ", ")
	}
	return ""
}

func unlessInto[T any](value json.RawMessage, want string) string {
	var v T
	if json.Unmarshal(value, &v) != nil {
		return want
	}
	return ""
}

// plainArgument is the name of an argument that we do not know, as far as it
// looks like a name: what is longer may be anything.
func plainArgument(name string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	if len(name) > 24 || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "of that name"
	}
	return name
}

func wrongUse(field, format string, args ...any) error {
	return &problem.Problem{Code: problem.Usage, Message: fmt.Sprintf(format, args...), Field: field}
}
