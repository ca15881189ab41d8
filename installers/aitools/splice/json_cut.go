package splice

import "bytes"

func (jsonSyntax) cut(text []byte, e Entry) ([]Edit, error) {
	root, err := parseJSON(text)
	if err != nil || root == nil {
		return nil, err
	}
	path, name := e.Path, ""
	if !e.Item {
		path, name = path[:len(path)-1], path[len(path)-1]
	}
	parent, missing := root.descend(path)
	if len(missing) > 0 {
		return nil, ErrNotCut
	}
	for i, c := range parent.children {
		if e.Item && stateOf(c.value.decoded(), e) != Foreign || !e.Item && c.key == name {
			return parent.cutChild(text, i), nil
		}
	}
	return nil, ErrNotCut
}

// cutChild cuts one child, its line if it has one to itself, and the one comma that is then too many. Later offsets come
// first, so that the edits do not shift each other.
func (n *jsonNode) cutChild(text []byte, i int) []Edit {
	c := n.children[i]
	start, end := c.start, c.value.end
	var edits []Edit
	switch {
	case c.comma >= 0 && blank(text[end:c.comma]):
		end = c.comma + 1
	case c.comma >= 0:
		edits = append(edits, Edit{At: c.comma, Cut: 1})
	}
	start, end = widen(text, start, end)
	edits = append(edits, Edit{At: start, Cut: end - start})
	if c.comma < 0 && i > 0 {
		edits = append(edits, Edit{At: n.children[i-1].comma, Cut: 1})
	}
	return edits
}

// widen takes the line end before a span into it, and the indentation, if nothing else stands on the span's lines;
// otherwise one blank behind it.
func widen(text []byte, start, end int) (int, int) {
	lineStart := bytes.LastIndexByte(text[:start], '\n') + 1
	rest := text[end:]
	lineRest := rest[:lineEnd(string(rest))]
	if lineStart > 0 && blank(text[lineStart:start]) && blank(lineRest) {
		return lineStart - len(eolBefore(text, lineStart)), end + len(lineRest)
	}
	if bytes.HasPrefix(rest, []byte(" ")) && !blank(lineRest) {
		end++
	}
	return start, end
}

// eolBefore is the line end that ends at offset.
func eolBefore(text []byte, offset int) string {
	if bytes.HasSuffix(text[:offset], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
