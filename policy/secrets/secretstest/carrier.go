package secretstest

import (
	"encoding/json"
	"strings"
)

// A Carrier is a place a secret stands in. Lines says whether it can hold a
// secret of several lines.
type Carrier struct {
	Name  string
	Lines bool
	Put   func(secret string) string
}

// Carriers lists the places in an event and in a repository where text of a
// writer stands.
func Carriers() []Carrier {
	in := func(name, before, after string) Carrier {
		return Carrier{name, false, func(secret string) string { return before + secret + after }}
	}
	return []Carrier{
		{"alone", true, func(s string) string { return s }},
		{"note", true, func(s string) string {
			return "We met on Tuesday and agreed on the following.\n\n" + s + "\n\nAna will follow up."
		}},
		{"event", true, func(s string) string { return quote(map[string]string{"title": "deploy", "content": s}) }},
		{"quoted JSON", true, func(s string) string {
			return quote(map[string]string{"content": quote(map[string]string{"text": s})})
		}},
		{"code block", true, func(s string) string { return "Setup:\n```\n" + s + "\n```\n" }},
		{"list", false, func(s string) string { return "- one\n- " + s + "\n- three\n" }},
		{"Windows lines", true, func(s string) string { return "a\r\n" + strings.ReplaceAll(s, "\n", "\r\n") + "\r\nb\r\n" }},
		{"quotation", true, func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") }},
		in("Chinese", "部署时使用 ", "，不要外传。"),
		in("sentence", "Please use ", ". Thanks!"),
		in("parentheses", "the new one (", ") works"),
		in("subject", "deploy: use ", ""),
		in("trailer", "fix the build\n\nReviewed-by: Ana\nNote: ", "\n"),
		in("log line", "2024-05-01T12:00:00Z INFO request=17 ", " took=3ms"),
		in("YAML", "steps:\n  - run: ", "\n"),
		in("double quotes", `say "`, `" twice`),
		in("single quotes", "say '", "' twice"),
		in("URL", "https://example.com/a?b=1&c=", "&d=2"),
		in("line start", "first line\n", " and more"),
		in("tab", "name\t", "\tend"),
	}
}

// Names lists the places where only one word can stand.
func Names() []Carrier {
	in := func(name, before, after string) Carrier {
		return Carrier{name, false, func(secret string) string { return before + secret + after }}
	}
	return []Carrier{
		in("path", "docs/", "/index.md"), in("file name", "", ".json"), in("branch", "refs/heads/fix-", ""), in("tag", "refs/tags/v1-", ""),
		in("author", "", " <ana@example.com>"), in("mailbox", "Ana <", "@example.com>"), in("table", "| a | ", " | b |"), in("query", "?q=", "&page=2"),
		in("member name", `{"`, `": true}`), in("element", "<t>", "</t>"), in("glued", "abc", "xyz"),
	}
}

// quote is the JSON of a record, which cannot fail for strings.
func quote(record map[string]string) string {
	b, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return string(b)
}
