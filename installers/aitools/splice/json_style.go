package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A jsonStyle is how a text is laid out.
type jsonStyle struct {
	unit string // of indentation; empty for everything on one line
	eol  string
}

// jsonStyleOf reads the style off the first child of the root that stands on its own line.
func jsonStyleOf(text []byte, root *jsonNode) jsonStyle {
	style := jsonStyle{unit: "  ", eol: eolOf(text)}
	if root != nil && len(root.children) > 0 {
		if indent := style.lineIndent(text, root.children[0].start); indent != "" {
			style.unit = indent
		}
	}
	return style
}

func eolOf(text []byte) string {
	if at := bytes.IndexByte(text, '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent is the white space at the start of the line that holds offset.
func (jsonStyle) lineIndent(text []byte, offset int) string {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[start:offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render writes v so that its first line continues a line indented by indent. Short lists stay on one line.
func (s jsonStyle) render(v any, indent string) string {
	switch v := v.(type) {
	case Map:
		members := make([]string, len(v))
		for i, p := range v {
			members[i] = s.child(p.Key, p.Value, indent+s.unit)
		}
		return s.brackets("{", members, "}", indent, s.unit != "")
	case []any:
		items := make([]string, len(v))
		nested := false
		for i, item := range v {
			_, isMap := item.(Map)
			nested = nested || isMap
			items[i] = s.render(item, indent+s.unit)
		}
		return s.brackets("[", items, "]", indent, s.unit != "" && nested)
	case string:
		return quoteJSON(v)
	default:
		return fmt.Sprint(v)
	}
}

// child writes a member, or an item if key is empty.
func (s jsonStyle) child(key string, v any, indent string) string {
	if key == "" {
		return s.render(v, indent)
	}
	return quoteJSON(key) + ": " + s.render(v, indent)
}

func (s jsonStyle) brackets(open string, children []string, closing, indent string, spread bool) string {
	if !spread || len(children) == 0 {
		return open + strings.Join(children, ", ") + closing
	}
	inner := s.eol + indent + s.unit
	return open + inner + strings.Join(children, ","+inner) + s.eol + indent + closing
}

func quoteJSON(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("a string that cannot be JSON") // Encode replaces what is not UTF-8, so no string fails
	}
	return strings.TrimSuffix(out.String(), "\n")
}
