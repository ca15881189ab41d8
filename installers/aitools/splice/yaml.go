package splice

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"cairn/internal/lazyregexp"
)

type yamlSyntax struct{}

func (yamlSyntax) decode(text []byte) (any, error) {
	root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return map[string]any{}, nil
	}
	var out any
	if err := root.Decode(&out); err != nil {
		return nil, yamlError(err)
	}
	if out == nil {
		return map[string]any{}, nil
	}
	return stringKeys(out), nil
}

// stringKeys turns tables that have a key of another kind than string into tables with strings alone.
func stringKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			name, ok := key.(string)
			if !ok {
				name = fmt.Sprintf("%#v", key)
			}
			out[name] = stringKeys(value)
		}
		return out
	case map[string]any:
		for key, value := range v {
			v[key] = stringKeys(value)
		}
	case []any:
		for i, item := range v {
			v[i] = stringKeys(item)
		}
	}
	return v
}

// parseYAML returns the root of the only document, or nil if there is none.
func parseYAML(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, yamlError(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, &ParseError{Reason: "the file holds more than one YAML document"}
	}
	return doc.Content[0], nil
}

var yamlErrorLine = lazyregexp.New(`line (\d+)`)

// yamlError keeps the line and drops the rest: the parser's own message may quote a value, and a value may be a secret.
func yamlError(err error) error {
	reason := &ParseError{Reason: "the file is not valid YAML, or a key stands twice"}
	if m := yamlErrorLine().FindStringSubmatch(err.Error()); m != nil {
		reason.Line, _ = strconv.Atoi(m[1])
	}
	return reason
}

// A yamlPlace is a value on the way to an entry, with the key that leads to it.
type yamlPlace struct {
	key, value *yaml.Node // key is nil at the root
	missing    []string   // what is not there below value
}

func yamlDescend(root *yaml.Node, path []string) yamlPlace {
	at := yamlPlace{value: root, missing: path}
	for len(at.missing) > 0 {
		i := yamlIndex(at.value, at.missing[0])
		if i < 0 {
			return at
		}
		at = yamlPlace{key: at.value.Content[i], value: at.value.Content[i+1], missing: at.missing[1:]}
	}
	return at
}

// yamlIndex is the place of a key in a table's content, which holds keys and values in turn; -1 if it is not there.
func yamlIndex(table *yaml.Node, key string) int {
	if table.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i < len(table.Content); i += 2 {
		if table.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// takes tells whether the value is a table that lacks a key on the way to e, or the list that e is an item of.
func (at yamlPlace) takes(e Entry) bool {
	if len(at.missing) > 0 {
		return at.value.Kind == yaml.MappingNode
	}
	return at.value.Kind == yaml.SequenceNode && e.Item
}

func (yamlSyntax) insert(text []byte, e Entry) (Edit, error) {
	root, err := parseYAML(text)
	if err != nil {
		return Edit{}, err
	}
	if root == nil {
		return yamlAppend(text, yamlLines(nest(e, e.Path), "")), nil
	}
	at := yamlDescend(root, e.Path)
	value := nest(e, at.missing)
	switch {
	case at.key != nil && at.value.Tag == "!!null" && at.value.Value == "":
		return yamlUnder(text, at.key.Line, yamlLines(value, yamlIndent(at.key)+"  ")), nil
	case !at.takes(e):
		return Edit{}, ErrNoPlace
	case at.value.Style&yaml.FlowStyle != 0:
		return yamlFlowInsert(text, at.value, value)
	case at.key == nil:
		return yamlAppend(text, yamlLines(value, yamlIndent(at.value))), nil
	default:
		return yamlUnder(text, at.key.Line, yamlLines(value, yamlIndent(at.value))), nil
	}
}

func yamlIndent(n *yaml.Node) string { return strings.Repeat(" ", n.Column-1) }

func yamlAppend(text []byte, lines string) Edit {
	eol := eolOf(text)
	put := strings.ReplaceAll(lines, "\n", eol)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		put = eol + put
	}
	return Edit{At: len(text), Put: put}
}

// yamlUnder inserts lines below the given line. There they are the first children of its key, and the comments above the
// others stay with the others.
func yamlUnder(text []byte, line int, lines string) Edit {
	at := yamlLineStart(text, line+1)
	if at == len(text) {
		return yamlAppend(text, lines)
	}
	return Edit{At: at, Put: strings.ReplaceAll(lines, "\n", eolOf(text))}
}

// yamlLineStart is the offset at which a line starts, counted as the parser counts.
func yamlLineStart(text []byte, line int) int {
	at := 0
	for ; line > 1 && at < len(text); line-- {
		at += len(yamlLine().Find(text[at:]))
	}
	return at
}

var yamlLine = lazyregexp.New("^[^\r\n\u0085\u2028\u2029]*(\r\n|[\r\n\u0085\u2028\u2029])?")

func yamlFlowInsert(text []byte, at *yaml.Node, value any) (Edit, error) {
	offset, ok := yamlOffset(text, at)
	if !ok || text[offset] != '{' && text[offset] != '[' {
		return Edit{}, ErrNoPlace
	}
	put := yamlFlow(value)
	put = put[1 : len(put)-1]
	if len(at.Content) > 0 {
		put += ", "
	}
	return Edit{At: offset + 1, Put: put}, nil
}

// yamlOffset turns line and column, which counts characters, into an offset.
func yamlOffset(text []byte, n *yaml.Node) (int, bool) {
	at := yamlLineStart(text, n.Line)
	for range n.Column - 1 {
		if at >= len(text) {
			return 0, false
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at, at < len(text)
}
