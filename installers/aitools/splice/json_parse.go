package splice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds the nesting of tables and lists, so that a hostile file cannot exhaust the stack.
const maxDepth = 500

// A jsonNode is a value with its place in the text.
type jsonNode struct {
	kind       byte // '{', '[', '"' for a string, 'a' for any other atom
	start, end int  // of the value; end is behind it
	text       string
	children   []jsonChild
}

// A jsonChild is a member of an object or an item of an array.
type jsonChild struct {
	key   string // of a member
	start int    // of the key, or of the item
	comma int    // offset of the comma behind it; -1 if there is none
	value *jsonNode
}

// parseJSON reads a text that is JSON or JSON5. It returns nil for a text without a value.
func parseJSON(text []byte) (*jsonNode, error) {
	p := &jsonParser{text: string(text)}
	if !utf8.ValidString(p.text) {
		return nil, &ParseError{Reason: "the file is not UTF-8"}
	}
	if err := p.space(); err != nil || p.done() {
		return nil, err
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if !p.done() {
		return nil, p.fail("something follows the end of the value")
	}
	return root, nil
}

type jsonParser struct {
	text string
	at   int
}

func (p *jsonParser) done() bool { return p.at >= len(p.text) }

func (p *jsonParser) peek() byte {
	if p.done() {
		return 0
	}
	return p.text[p.at]
}

func (p *jsonParser) fail(reason string) error {
	return &ParseError{Line: lineAt([]byte(p.text), min(p.at, len(p.text))), Reason: reason}
}

// space skips white space and comments.
func (p *jsonParser) space() error {
	for !p.done() {
		rest := p.text[p.at:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case strings.HasPrefix(rest, "//"):
			p.at += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return p.fail("a comment is not closed")
			}
			p.at += end + 4
		case isJSONSpace(r):
			p.at += size
		default:
			return nil
		}
	}
	return nil
}

func isJSONSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r == '\uFEFF' || isLineSeparator(r) || unicode.Is(unicode.Zs, r)
}

func isLineSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' }

// lineEnd is the length of the first line of s, without its end.
func lineEnd(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || isLineSeparator(r) })
	if end < 0 {
		return len(s)
	}
	return end
}

func (p *jsonParser) value(depth int) (*jsonNode, error) {
	if depth > maxDepth {
		return nil, p.fail("the values are nested too deeply")
	}
	node := &jsonNode{start: p.at}
	var err error
	switch c := p.peek(); c {
	case '{', '[':
		node.kind = c
		err = p.children(node, depth)
	case '"', '\'':
		node.kind = '"'
		node.text, err = p.quoted()
	default:
		node.kind = 'a'
		node.text, err = p.atom()
	}
	node.end = p.at
	return node, err
}

// children reads an object or an array, from its opening bracket to its closing one.
func (p *jsonParser) children(node *jsonNode, depth int) error {
	closing := byte(']')
	if node.kind == '{' {
		closing = '}'
	}
	seen := map[string]bool{}
	for p.at++; ; {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.at++
			return nil
		}
		if n := len(node.children); n > 0 && node.children[n-1].comma < 0 {
			return p.fail("a comma or a closing bracket is missing")
		}
		child, err := p.child(node.kind == '{', depth)
		if err != nil {
			return err
		}
		if node.kind == '{' && seen[child.key] {
			return p.fail("a key stands twice: " + child.key)
		}
		seen[child.key] = true
		node.children = append(node.children, child)
	}
}

// child reads a member or an item, and the comma behind it if there is one.
func (p *jsonParser) child(member bool, depth int) (c jsonChild, err error) {
	c = jsonChild{start: p.at, comma: -1}
	if member {
		if c.key, err = p.key(); err != nil {
			return c, err
		}
	}
	if c.value, err = p.value(depth + 1); err != nil {
		return c, err
	}
	if err = p.space(); err != nil {
		return c, err
	}
	if p.peek() == ',' {
		c.comma = p.at
		p.at++
	}
	return c, nil
}

// key reads a key and the colon behind it.
func (p *jsonParser) key() (key string, err error) {
	if c := p.peek(); c == '"' || c == '\'' {
		key, err = p.quoted()
	} else {
		key, err = p.identifier()
	}
	if err != nil {
		return "", err
	}
	if err := p.space(); err != nil {
		return "", err
	}
	if p.peek() != ':' {
		return "", p.fail("a colon is missing behind a key")
	}
	p.at++
	return key, p.space()
}

func (p *jsonParser) identifier() (string, error) {
	rest := p.text[p.at:]
	size := strings.IndexFunc(rest, func(r rune) bool {
		return r != '$' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\u200C' && r != '\u200D'
	})
	if size <= 0 {
		return "", p.fail("a key is missing")
	}
	p.at += size
	return rest[:size], nil
}
