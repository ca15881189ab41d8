package rules

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
	"cairn/policy/secrets"
)

// MaxFile is how many bytes a policy file may have.
const MaxFile = 256 << 10

// maxDepth is how deep a policy file nests at most, with room to spare.
const maxDepth = 12

// document reads the file as one YAML document of plain mappings, lists and
// texts. Nil means that there is nothing to go on with.
func (c *checker) document(src []byte) *yaml.Node {
	if len(src) > MaxFile {
		c.say(1, 1, "the file is larger than 256 KiB (%d bytes), which is the limit", MaxFile)
		return nil
	}
	if !c.characters(src) {
		return nil
	}
	c.secrets(src)
	root, err := decode(src)
	if err != nil {
		c.syntax(err, src)
		return nil
	}
	if root == nil {
		c.say(1, 1, "the file is empty")
		return nil
	}
	c.plain(root, 0)
	return root.Content[0]
}

// characters finds what is no text: the YAML library would read some of it in
// other encodings, or leave it out.
func (c *checker) characters(src []byte) bool {
	line, column := 1, 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			c.say(line, column, "this is not UTF-8")
			return false
		case r == '\ufeff' || r < ' ' && r != '\n' && r != '\t' && r != '\r' || '\u007f' <= r && r < '\u00a0' || r == '\u2028' || r == '\u2029':
			c.say(line, column, "the character U+%04X may not stand in a policy file", r)
			return false
		case r == '\n':
			line, column = line+1, 0
		}
		column++
		i += size
	}
	return true
}

// secrets holds the file to what it asks of others. It says which rule and
// where, never what.
func (c *checker) secrets(src []byte) {
	for _, f := range c.scanner.Scan(src) {
		line, column := position(src, f.Start)
		last, _ := position(src, max(f.Start, f.End-1))
		for l := line; l <= last; l++ {
			c.hidden[l] = true
		}
		if f.Rule == secrets.TooComplex {
			c.say(line, column, "the file holds more nested text than can be checked for secrets")
			continue
		}
		c.say(line, column, looksSecret, f.Rule)
	}
}

const looksSecret = "this looks like a secret (rule %s): take it out, and name it by the fingerprint of its refusal"

// quoted looks at a text in double quotes as YAML reads it: it may be written
// in escapes, and with a line's end within a word.
func (c *checker) quoted(n *yaml.Node) {
	if n.Style&yaml.DoubleQuotedStyle == 0 || c.hidden[n.Line] {
		return
	}
	if found := c.scanner.Scan([]byte(n.Value)); len(found) > 0 {
		c.hidden[n.Line] = true
		c.at(n, "", looksSecret, found[0].Rule)
	}
}

// position is the line and column of an offset.
func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// errSecond reports a second document in the file.
type errSecond struct{ line int }

func (*errSecond) Error() string { return "a policy file is one document" }

// decode returns the document's node, nil if there is none.
func decode(src []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the YAML library gave up: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	root = new(yaml.Node)
	switch err := dec.Decode(root); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	case len(root.Content) != 1:
		return nil, nil
	}
	second := new(yaml.Node)
	switch err := dec.Decode(second); {
	case err == nil:
		return nil, &errSecond{second.Line}
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return root, nil
}

var yamlError = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)$`)

// syntax reports an error of the YAML library, which knows the line at most.
func (c *checker) syntax(err error, src []byte) {
	if second, ok := errors.AsType[*errSecond](err); ok {
		c.say(second.line, 1, "this begins another YAML document, one is allowed")
		return
	}
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil {
		c.say(1, 1, "this is not YAML")
		return
	}
	line, _ := strconv.Atoi(m[1]) // no line is the first
	if name, ok := strings.CutPrefix(m[2], "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		line, column := position(src, max(0, bytes.Index(src, []byte("*"+name))))
		c.say(line, column, "aliases are not allowed: write it out")
		return
	}
	if strings.HasPrefix(m[2], "did not find expected") {
		line++ // for these the library counts from 0
	}
	c.say(line, 1, "this is not YAML: %s", m[2])
}

// plain refuses what makes a file say other things than it seems to.
func (c *checker) plain(n *yaml.Node, depth int) {
	if depth > maxDepth {
		c.at(n, "", "this is nested too deep")
		return
	}
	if n.Anchor != "" {
		c.at(n, "", "anchors are not allowed: write it out")
	}
	if n.Kind == yaml.AliasNode {
		c.at(n, "", "aliases are not allowed: write it out")
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		c.at(n, "", "tags are not allowed: leave it out")
	}
	c.quoted(n)
	for _, sub := range n.Content {
		c.plain(sub, depth+1)
	}
}
