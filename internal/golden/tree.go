package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// treeOf reads a file as a tree of values that know where they stand. JSON is
// read as such, since YAML takes some of its escapes for something else.
func treeOf(data []byte) (*yaml.Node, error) {
	if !utf8.Valid(data) {
		return nil, &Error{Line: 1, Message: "the file is not UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if start := bytes.TrimSpace(data); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return jsonTree(data)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, yamlError(err)
	}
	if len(doc.Content) == 0 {
		return nil, &Error{Line: 1, Message: "the file is empty"}
	}
	return doc.Content[0], nil
}

// yamlError takes the line out of the library's message.
func yamlError(err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{Line: 1, Message: text}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			e.Line, e.Message = n, message
		}
	}
	return e
}

// A jsonReader makes a tree of JSON.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	// at is where counting has come to, line its line from 1, and column how many
	// characters of the line stand before it.
	at, line, column int
}

func jsonTree(data []byte) (*yaml.Node, error) {
	r := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.dec.UseNumber()
	n, err := r.value(maxDepth)
	if err == nil {
		if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
			err = r.wrong("something follows the end of the list")
		}
	}
	return n, err
}

// maxDepth is more than any file of this form needs.
const maxDepth = 16

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	line, column := r.position(r.next())
	tok, err := r.dec.Token()
	if err != nil {
		return nil, r.syntax(err)
	}
	n := &yaml.Node{Line: line, Column: column}
	switch tok := tok.(type) {
	case json.Delim:
		if depth == 0 {
			return nil, r.wrong("this lies too deep")
		}
		n.Kind = yaml.SequenceNode
		if tok == '{' {
			n.Kind = yaml.MappingNode
		}
		return n, r.inside(n, depth)
	case nil:
		n.Kind, n.Tag = yaml.ScalarNode, "!!null"
	case string:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!str", tok
	default:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!int", fmt.Sprint(tok)
	}
	return n, nil
}

// inside reads what is between two brackets; of an object the names and the
// values in turn.
func (r *jsonReader) inside(n *yaml.Node, depth int) error {
	for r.dec.More() {
		c, err := r.value(depth - 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, c)
	}
	if _, err := r.dec.Token(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// next is where the next value begins.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

// position is the line and column of a place not before the last one asked for.
func (r *jsonReader) position(at int) (line, column int) {
	for ; r.at < at; r.at++ {
		switch b := r.data[r.at]; {
		case b == '\n':
			r.line, r.column = r.line+1, 0
		case utf8.RuneStart(b):
			r.column++
		}
	}
	return r.line, r.column + 1
}

func (r *jsonReader) wrong(message string) *Error {
	line, column := r.position(r.next())
	return &Error{Line: line, Column: column, Message: message}
}

func (r *jsonReader) syntax(err error) *Error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := r.position(max(int(s.Offset)-1, r.at))
		return &Error{Line: line, Column: column, Message: s.Error()}
	}
	line, column := r.position(len(r.data))
	return &Error{Line: line, Column: column, Message: "the file ends too early"}
}
