package mcptools

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/agent/api"
	"cairn/agent/highlight"
	"cairn/internal/event"
)

// What others wrote is shown on one line behind a mark, so that nothing in it
// can look like a word of ours.

// oneLine puts a space for every run of white space and control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
}

// shorten cuts s to at most limit bytes between two characters, and marks that
// it did.
func shorten(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:max(end, 0)] + mark
}

// provenance says who wrote a memory, with which tool, on which machine, when
// and where it is kept.
func provenance(h api.Hit) string {
	from := oneLine(h.Actor)
	if h.Harness != "" && h.Harness != h.Actor {
		from += " with " + oneLine(h.Harness)
	}
	return from + " on " + machine(h.Device) + ", " + h.Recorded.Format("2006-01-02") + ", space " + oneLine(h.Space)
}

// machine is the name of a device, or the start of its id.
func machine(device string) string {
	if id, err := event.ParseDeviceID(device); err == nil {
		return string(id[:8])
	}
	return oneLine(device)
}

// marks says what keeps a memory from counting fully.
func marks(h api.Hit) []string {
	var out []string
	if h.SupersededBy != "" {
		out = append(out, "superseded by "+h.SupersededBy.Short())
	}
	if h.Verdict != "" {
		out = append(out, oneLine(h.Verdict))
	}
	if h.Newer {
		out = append(out, "written by a newer program")
	}
	return out
}

// What of a hit is named as matched: so many words of at most so many bytes.
const (
	maxMatches = 5
	maxMatch   = 40
)

// matchesOf are the words of a hit by which it was found. They are named and
// not marked where they stand: a quote is what is stored, byte for byte, and no
// mark in it could be told from what others wrote.
func matchesOf(query string, h api.Hit) []string {
	var out []string
	for _, w := range highlight.Words(query, h, maxMatches) {
		out = append(out, shorten(oneLine(w), maxMatch))
	}
	return out
}

// quote is one hit of a list: a line about it and one or two from it.
func quote(h api.Hit, matches []string) string {
	about := []string{h.ID.Short(), string(h.Kind)}
	if h.State != api.Live && h.SupersededBy == "" {
		about = append(about, string(h.State))
	}
	about = append(about, marks(h)...)
	about = append(about, "by "+provenance(h))
	if len(matches) > 0 {
		about = append(about, "matches "+strings.Join(matches, " · "))
	}
	title, body := oneLine(h.Title), oneLine(h.Snippet)
	if body == "" {
		body = oneLine(h.Text)
	}
	words := strings.Join(about, ", ")
	// A title that was made of the first words says nothing more.
	if !strings.HasPrefix(body, strings.TrimSuffix(title, "…")) {
		words += "\n> " + title
	}
	if body != "" {
		words += "\n> " + body
	}
	return words
}
