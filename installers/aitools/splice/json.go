package splice

import "strings"

type jsonSyntax struct{}

// A jsonNumber is a number as it is written, so that none is too big to compare.
type jsonNumber string

func (jsonSyntax) decode(text []byte) (any, error) {
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return map[string]any{}, nil
	}
	return root.decoded(), nil
}

func (n *jsonNode) decoded() any {
	switch n.kind {
	case '{':
		table := make(map[string]any, len(n.children))
		for _, c := range n.children {
			table[c.key] = c.value.decoded()
		}
		return table
	case '[':
		list := make([]any, len(n.children))
		for i, c := range n.children {
			list[i] = c.value.decoded()
		}
		return list
	case '"':
		return n.text
	}
	switch n.text {
	case "null":
		return nil
	case "true", "false":
		return n.text == "true"
	default:
		return jsonNumber(n.text)
	}
}

// descend follows path as far as it exists and returns the last value and the keys that are missing below it.
func (n *jsonNode) descend(path []string) (at *jsonNode, missing []string) {
	for i, key := range path {
		child := n.member(key)
		if child == nil {
			return n, path[i:]
		}
		n = child.value
	}
	return n, nil
}

func (n *jsonNode) member(key string) *jsonChild {
	for i := range n.children {
		if n.kind == '{' && n.children[i].key == key {
			return &n.children[i]
		}
	}
	return nil
}

func (jsonSyntax) insert(text []byte, e Entry) (Edit, error) {
	root, err := parseJSON(text)
	if err != nil {
		return Edit{}, err
	}
	style := jsonStyleOf(text, root)
	if root == nil {
		put := style.render(nest(e, e.Path), "") + style.eol
		if len(text) > 0 && text[len(text)-1] != '\n' {
			put = style.eol + put // the last line may be a comment
		}
		return Edit{At: len(text), Put: put}, nil
	}
	at, missing := root.descend(e.Path)
	switch {
	case at.kind == '{' && len(missing) > 0:
		return at.insertFirst(text, style, missing[0], nest(e, missing[1:])), nil
	case at.kind != '[' || len(missing) > 0 || !e.Item:
		return Edit{}, ErrNoPlace
	case len(at.children) == 0:
		return at.insertFirst(text, style, "", e.Value), nil
	default:
		return at.insertLast(text, style, e.Value), nil
	}
}

// nest wraps an entry's value in the tables, and the list, that are missing on the way to it.
func nest(e Entry, missing []string) any {
	value := e.Value
	if e.Item {
		value = []any{value}
	}
	for i := len(missing) - 1; i >= 0; i-- {
		value = Map{{missing[i], value}}
	}
	return value
}

// insertFirst puts a new first member into an object or, without a key, the only item into an array. The first place needs
// no comma before it, so that the lines of the others stay as they are.
func (n *jsonNode) insertFirst(text []byte, style jsonStyle, key string, value any) Edit {
	open := n.start + 1
	if !n.spread(text) {
		put := jsonStyle{eol: style.eol}.child(key, value, "")
		if len(n.children) > 0 {
			put += ", "
		}
		return Edit{At: open, Put: put}
	}
	base := style.lineIndent(text, n.start)
	indent := base + style.unit
	if len(n.children) > 0 {
		indent = style.lineIndent(text, n.children[0].start)
	}
	at, lineEnds := behindLineComment(text, open)
	put := style.eol + indent + style.child(key, value, indent)
	switch {
	case len(n.children) > 0:
		put += ","
	case !lineEnds:
		put += style.eol + base
	}
	return Edit{At: at, Put: put}
}

// insertLast adds an item to an array. The others keep their places: some tools remember what their user said about an item
// by its number.
func (n *jsonNode) insertLast(text []byte, style jsonStyle, item any) Edit {
	last := n.children[len(n.children)-1]
	gap, indent := " ", ""
	if n.spread(text) {
		indent = style.lineIndent(text, n.children[0].start)
		gap = style.eol + indent
	} else {
		style.unit = ""
	}
	put := gap + style.render(item, indent)
	if last.comma < 0 {
		return Edit{At: last.value.end, Put: "," + put}
	}
	at := last.comma + 1
	if after, lineEnds := behindLineComment(text, at); lineEnds {
		at = after
	}
	return Edit{At: at, Put: put + ","}
}

// spread tells whether the children stand on lines of their own, or would: an empty pair of brackets opens up unless the
// whole text is one line.
func (n *jsonNode) spread(text []byte) bool {
	if len(n.children) > 0 {
		return strings.ContainsAny(string(text[n.start:n.children[0].start]), "\r\n")
	}
	return strings.ContainsAny(strings.TrimSpace(string(text)), "\r\n") || n.start == 0
}

// behindLineComment skips blanks and comments that end on the line of offset at. It reports whether the line ends there; if
// not, the offset is the one it was given.
func behindLineComment(text []byte, at int) (int, bool) {
	p := &jsonParser{text: string(text), at: at}
	for !p.done() {
		rest := p.text[p.at:]
		switch {
		case rest[0] == '\n' || rest[0] == '\r':
			return p.at, true
		case rest[0] == ' ' || rest[0] == '\t':
			p.at++
		case strings.HasPrefix(rest, "//"):
			p.at += lineEnd(rest)
		case strings.HasPrefix(rest, "/*") && strings.Contains(rest[:lineEnd(rest)], "*/"):
			p.at += strings.Index(rest, "*/") + 2
		default:
			return at, false
		}
	}
	return at, false
}

func (jsonSyntax) show(e Entry) string {
	return jsonStyle{unit: "  ", eol: "\n"}.render(nest(e, e.Path), "") + "\n"
}
