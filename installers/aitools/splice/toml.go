package splice

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"cairn/internal/lazyregexp"
)

// tomlSyntax writes an entry as a table of its own at the end of the text, where it is in nobody's way.
type tomlSyntax struct{}

func (tomlSyntax) decode(text []byte) (any, error) {
	out := map[string]any{}
	if err := toml.Unmarshal(text, &out); err != nil {
		reason := &ParseError{Reason: "the file is not valid TOML"}
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			reason.Line, _ = e.Position()
		}
		return nil, reason // the parser's own message may quote a value, and a value may be a secret
	}
	return out, nil
}

func (s tomlSyntax) insert(text []byte, e Entry) (Edit, error) {
	if e.Item {
		return Edit{}, ErrNoPlace
	}
	eol := eolOf(text)
	put := strings.ReplaceAll(s.show(e), "\n", eol)
	if len(text) > 0 {
		put = eol + put
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		put = eol + put
	}
	return Edit{At: len(text), Put: put}, nil
}

func (tomlSyntax) show(e Entry) string {
	keys := make([]string, len(e.Path))
	for i, key := range e.Path {
		keys[i] = tomlKey(key)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "[%s]\n", strings.Join(keys, "."))
	for _, p := range e.Value.(Map) {
		fmt.Fprintf(&out, "%s = %s\n", tomlKey(p.Key), tomlValue(p.Value))
	}
	return out.String()
}

var tomlBareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if tomlBareKey().MatchString(key) {
		return key
	}
	return tomlString(key)
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case Map:
		pairs := make([]string, len(v))
		for i, p := range v {
			pairs[i] = tomlKey(p.Key) + " = " + tomlValue(p.Value)
		}
		return "{ " + strings.Join(pairs, ", ") + " }"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = tomlValue(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return tomlString(v)
	default:
		return fmt.Sprint(v)
	}
}

// tomlString prefers double quotes, and single quotes where a backslash would have to be doubled.
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7F }) {
		return "'" + s + "'"
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7F:
			out.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			out.WriteRune(r)
		}
	}
	return `"` + out.String() + `"`
}

// A tomlPart is one expression of a text, a table header or a pair, with the full path of its key.
type tomlPart struct {
	header bool
	path   []string
	start  int // of its line
	end    int // behind its last byte, before a comment
}

func tomlParts(text []byte) ([]tomlPart, error) {
	var parts []tomlPart
	var table []string
	p := unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		expr := p.Expression()
		part := tomlPart{header: expr.Kind != unstable.KeyValue}
		if !part.header {
			part.path = slices.Clone(table)
			part.end = int(expr.Raw.Offset + expr.Raw.Length)
		}
		first := -1
		for it := expr.Key(); it.Next(); {
			key := it.Node()
			part.path = append(part.path, string(key.Data))
			if first < 0 {
				first = int(key.Raw.Offset)
			}
			part.end = max(part.end, int(key.Raw.Offset+key.Raw.Length))
		}
		part.start = bytes.LastIndexByte(text[:first], '\n') + 1
		if part.header {
			table = part.path
			part.end += lineEnd(string(text[part.end:]))
		}
		parts = append(parts, part)
	}
	return parts, p.Error()
}

func (tomlSyntax) cut(text []byte, e Entry) ([]Edit, error) {
	parts, err := tomlParts(text)
	if err != nil {
		return nil, err
	}
	var edits []Edit
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		if len(p.path) < len(e.Path) || !slices.Equal(p.path[:len(e.Path)], e.Path) {
			continue
		}
		end := p.end + lineEnd(string(text[p.end:]))
		start, end := widen(text, p.start, end)
		edits = append(edits, Edit{At: start, Cut: end - start})
	}
	if edits == nil {
		return nil, ErrNotCut
	}
	return edits, nil
}
