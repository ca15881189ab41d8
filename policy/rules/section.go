package rules

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A section is a mapping of the file with the keys it may have.
type section struct {
	*checker
	where string // in words: "", limits, space ops
	node  *yaml.Node
	keys  map[string]*yaml.Node
	value map[string]*yaml.Node
}

// section reads a mapping. Keys that are not known are mistakes.
func (c *checker) section(where string, n *yaml.Node, known ...string) (section, bool) {
	s := section{checker: c, where: where, node: n, keys: map[string]*yaml.Node{}, value: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		c.kind(n, where, "a mapping with the keys "+strings.Join(known, ", "))
		return s, false
	}
	for i := 0; i+1 < len(n.Content) && len(c.found) < maxFindings; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			c.kind(key, where, "a word as key")
		case key.Value == "<<":
			c.at(key, where, "merges are not allowed: write it out")
		case len(known) > 0 && !slices.Contains(known, key.Value):
			c.at(key, where, "%s%s", c.no("key", key), meant(key.Value, "keys", known))
		case s.keys[key.Value] != nil:
			c.at(key, where, "%s is given twice (line %d)", c.quote(key), s.keys[key.Value].Line)
		default:
			s.keys[key.Value], s.value[key.Value] = key, value
		}
	}
	return s, true
}

// entries calls each for every key, in the order of the file. It is for
// sections whose keys are the team's own names.
func (s section) entries(each func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		if key := s.node.Content[i]; s.keys[key.Value] == key {
			each(key, s.node.Content[i+1])
		}
	}
}

// kind says that n should be something else, unless it is an alias, of which
// that has been said already.
func (c *checker) kind(n *yaml.Node, where, want string) {
	if n.Kind != yaml.AliasNode {
		c.at(n, where, "this must be %s", want)
	}
}

// in is the place of a key's value in words.
func (s section) in(key string) string {
	if s.where == "" {
		return key
	}
	return s.where + ": " + key
}

// need reports the keys that are missing, all in one finding.
func (s section) need(keys ...string) bool {
	var missing []string
	for _, k := range keys {
		if s.value[k] == nil {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		s.at(s.node, s.where, "needs %s", and(missing))
	}
	return len(missing) == 0
}

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// scalar is the text of a node that stands for a single value.
func (c *checker) scalar(n *yaml.Node, where, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		c.kind(n, where, want)
		return "", false
	}
	return n.Value, true
}

// read is the value of a key that is there, made by a function that returns
// what is wrong with it.
func read[T any](s section, key, want string, parse func(string) (T, error)) (v T) {
	n := s.value[key]
	if n == nil {
		return v
	}
	text, ok := s.scalar(n, s.in(key), want)
	if !ok {
		return v
	}
	v, err := parse(text)
	if err != nil {
		s.at(n, s.in(key), "%s %s", s.quote(n), err)
	}
	return v
}

// items is the list under a key, with at least one item.
func (s section) items(key, want string) []*yaml.Node {
	n := s.value[key]
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		s.kind(n, s.in(key), "a list of "+want)
		return nil
	}
	return n.Content
}

// maxItems is how many a list of words may have.
const maxItems = 1000

// words is the list of texts under a key, each judged by a function and given
// once.
func (s section) words(key, want string, judge func(string) error) []string {
	var list []string
	seen := map[string]int{}
	for i, n := range s.items(key, want) {
		if i == maxItems {
			s.at(n, s.in(key), "there are more than %d", maxItems)
			break
		}
		text, ok := s.scalar(n, s.in(key), want)
		if !ok {
			continue
		}
		if err := judge(text); err != nil {
			s.at(n, s.in(key), "%s %s", s.quote(n), err)
			continue
		}
		if line := seen[text]; line > 0 {
			s.at(n, s.in(key), "%s stands there already (line %d)", s.quote(n), line)
			continue
		}
		seen[text] = n.Line
		list = append(list, text)
	}
	return list
}
