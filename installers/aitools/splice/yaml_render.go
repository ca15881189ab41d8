package splice

import (
	"fmt"
	"strings"

	"cairn/internal/lazyregexp"
)

func (yamlSyntax) show(e Entry) string { return yamlLines(nest(e, e.Path), "") }

// yamlLines renders a table or a list as a block whose lines are indented by indent.
func yamlLines(v any, indent string) string {
	var out strings.Builder
	switch v := v.(type) {
	case Map:
		for _, p := range v {
			out.WriteString(indent + yamlKey(p.Key) + ":" + yamlBelow(p.Value, indent+"  "))
		}
	case []any:
		for _, item := range v {
			// The first line of an item stands behind its dash, in the column of the others.
			block := strings.TrimLeft(yamlBelow(item, indent+"  "), "\n ")
			out.WriteString(indent + "- " + block)
		}
	}
	return out.String()
}

// yamlBelow renders what follows a key and its colon: the rest of the line, or a block of lines.
func yamlBelow(v any, indent string) string {
	switch v := v.(type) {
	case Map:
		return "\n" + yamlLines(v, indent)
	case []any:
		for _, item := range v {
			if _, ok := item.(Map); ok {
				return "\n" + yamlLines(v, indent)
			}
		}
	}
	return " " + yamlFlow(v) + "\n"
}

// yamlFlow renders v on one line.
func yamlFlow(v any) string {
	switch v := v.(type) {
	case Map:
		pairs := make([]string, len(v))
		for i, p := range v {
			pairs[i] = yamlKey(p.Key) + ": " + yamlFlow(p.Value)
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = yamlFlow(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return quoteJSON(v) // a JSON string is a YAML string in double quotes
	default:
		return fmt.Sprint(v)
	}
}

var (
	yamlPlainKey = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)
	yamlWord     = lazyregexp.New(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// yamlKey leaves a key without quotes only where no version of YAML reads it as anything but a string.
func yamlKey(key string) string {
	if yamlPlainKey().MatchString(key) && !yamlWord().MatchString(key) {
		return key
	}
	return quoteJSON(key)
}
