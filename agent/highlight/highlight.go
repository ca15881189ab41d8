package highlight

import (
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/search"
)

// Paint returns a title and a snippet as they are shown of a hit, with before
// and after around each stretch that the query matched.
func Paint(query string, h api.Hit, title, snippet, before, after string) (string, string) {
	m := marker(query, h)
	if m == nil {
		return title, snippet
	}
	return paint(title, m.Title(title), before, after), paint(snippet, m.Text(snippet), before, after)
}

// marker is nil if what a hit shows is not what was found.
func marker(query string, h api.Hit) *search.Marker {
	if query == "" || h.Newer || h.State == api.Redacted {
		return nil
	}
	return search.NewMarker(query, h.Title, h.Text)
}

func paint(s string, marks []search.Stretch, before, after string) string {
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(s[at:m.Start] + before + s[m.Start:m.End] + after)
		at = m.End
	}
	return b.String() + s[at:]
}

// Words are the stretches of title and snippet that the query matched, as they
// stand there, at most most of them, in order; one that differs from another
// only in case is left out.
func Words(query string, h api.Hit, most int) []string {
	m := marker(query, h)
	if m == nil {
		return nil
	}
	var out []string
	add := func(s string, marks []search.Stretch) {
		for _, mark := range marks {
			word := s[mark.Start:mark.End]
			known := slices.ContainsFunc(out, func(w string) bool { return strings.EqualFold(w, word) })
			if !known && len(out) < most {
				out = append(out, word)
			}
		}
	}
	add(h.Title, m.Title(h.Title))
	add(h.Snippet, m.Text(h.Snippet))
	return out
}
