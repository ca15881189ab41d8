package golden

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// members are the names that an object may have, each with the others by which
// it also goes.
type members map[string][]string

// read is the members of an object by their first names.
func (m members) read(n *yaml.Node, what string) (map[string]*yaml.Node, error) {
	n = plain(n)
	if n.Kind != yaml.MappingNode {
		return nil, at(n, what+" is an object with the members "+m.list())
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		first := m.first(name.Value)
		switch {
		case first == "":
			return nil, at(name, fmt.Sprintf("%s has no member %q%s; its members are %s", what, name.Value, meant(name.Value, m.all()), m.list()))
		case out[first] != nil:
			return nil, at(name, fmt.Sprintf("%s has %q twice", what, first))
		}
		out[first] = value
	}
	return out, nil
}

func (m members) first(name string) string {
	for first, others := range m {
		if name == first || slices.Contains(others, name) {
			return first
		}
	}
	return ""
}

func (m members) all() map[string]string {
	out := map[string]string{}
	for first, others := range m {
		for _, name := range append([]string{first}, others...) {
			out[name] = first
		}
	}
	return out
}

func (m members) list() string {
	var names []string
	for first := range m {
		names = append(names, first)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func at(n *yaml.Node, message string) *Error {
	return &Error{Line: n.Line, Column: n.Column, Message: message}
}

// plain follows a reference to another place in a YAML file.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = plain(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// text is one value as it stands; empty for nil and null.
func text(n *yaml.Node) (string, error) {
	if n == nil {
		return "", nil
	}
	if n = plain(n); n.Kind != yaml.ScalarNode {
		return "", at(n, "this is a text, not a list or an object")
	}
	if isNull(n) {
		return "", nil
	}
	return n.Value, nil
}

// texts is a list, or one value as a list of one.
func texts(n *yaml.Node) (out []string, err error) {
	if n == nil || isNull(n) {
		return nil, nil
	}
	list := plain(n)
	if list.Kind == yaml.ScalarNode {
		return []string{list.Value}, nil
	}
	err = each(list, func(n *yaml.Node) error {
		s, err := text(n)
		if err == nil && s == "" {
			err = at(n, "this is empty")
		}
		out = append(out, s)
		return err
	})
	return out, err
}

// each calls fn with the items of a list; nil and null have none.
func each(n *yaml.Node, fn func(*yaml.Node) error) error {
	if n == nil || isNull(n) {
		return nil
	}
	if n = plain(n); n.Kind != yaml.SequenceNode {
		return at(n, "this is a list")
	}
	for _, item := range n.Content {
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}
