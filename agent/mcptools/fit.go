package mcptools

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"cairn/agent/api"
)

// answerBudget is how many bytes an answer has, its words and its JSON
// together, as both are written on the wire.
const answerBudget = 4096

// limits are how long the parts of a hit may be, in bytes, and how many tags
// it may show.
type limits struct{ text, snippet, title, name, tags int }

// steps are tried in turn until an answer fits. What shrinks last is the
// snippet: it is chosen for the question, and words and JSON both show it.
var steps = []limits{
	{text: 1200, snippet: 1200, title: 400, name: 400, tags: 16},
	{text: 600, snippet: 600, title: 200, name: 200, tags: 16},
	{text: 300, snippet: 300, title: 120, name: 120, tags: 8},
	{text: 160, snippet: 240, title: 120, name: 120, tags: 8},
	{text: 100, snippet: 180, title: 100, name: 80, tags: 6},
	{text: 60, snippet: 125, title: 60, name: 80, tags: 4},
	{text: 40, snippet: 80, title: 60, name: 60, tags: 3},
}

// A marked answer also has what the query matched in each hit.
type marked struct {
	api.Answer
	matches [][]string
}

// fitAnswer shortens the texts of an answer until it fits, and then leaves
// out the last hits. The words and the note say so.
func fitAnswer(answer api.Answer, order string) reply {
	a := marked{Answer: answer}
	for _, h := range a.Hits {
		a.matches = append(a.matches, matchesOf(a.Query, h))
	}
	for _, l := range steps {
		if r := render(a, len(a.Hits), l, order); size(r) <= answerBudget {
			return r
		}
	}
	last := steps[len(steps)-1]
	for n := len(a.Hits) - 1; n > 0; n-- {
		if r := render(a, n, last, order); size(r) <= answerBudget {
			return r
		}
	}
	return render(a, min(len(a.Hits), 1), last, order)
}

// size counts the bytes of a reply on the wire.
func size(r reply) int {
	n := 0
	for _, v := range []any{r.text, r.value} {
		b, err := json.Marshal(v)
		if err != nil {
			return math.MaxInt
		}
		n += len(b)
	}
	return n
}

// render is the answer with n hits within the limits.
func render(a marked, n int, l limits, order string) reply {
	out := a
	out.Query = shorten(a.Query, 200)
	out.Hits = make([]api.Hit, n)
	cut := false
	for i, h := range a.Hits[:n] {
		out.Hits[i] = l.hit(h)
		cut = cut || len(h.Text) > l.text
	}
	out.Note = notes(a.Answer, n, cut)
	return reply{text: answerWords(out, order), value: out.Answer}
}

// hit is h within the limits.
func (l limits) hit(h api.Hit) api.Hit {
	h.Text = shorten(h.Text, l.text)
	h.Snippet = shorten(h.Snippet, l.snippet)
	h.Title = shorten(h.Title, l.title)
	for _, s := range []*string{&h.Project, &h.Actor, &h.Harness, &h.Device, &h.Space, &h.Verdict} {
		*s = shorten(*s, l.name)
	}
	tags := make([]string, min(len(h.Tags), l.tags))
	for i := range tags {
		tags[i] = shorten(h.Tags[i], l.name)
	}
	h.Tags = tags
	h.Score = math.Round(h.Score*1e4) / 1e4
	return h
}

// notes joins what the agent says of its answer and what was done to it here.
func notes(a api.Answer, n int, cut bool) string {
	var all []string
	if a.Note != "" {
		all = append(all, shorten(oneLine(a.Note), 300))
	}
	if cut {
		all = append(all, "long texts are shortened, show gives them whole")
	}
	if n < len(a.Hits) {
		all = append(all, fmt.Sprintf("only the first %d of %d hits fit here, a narrower query or a smaller limit shows others", n, len(a.Hits)))
	}
	return strings.Join(all, "; ")
}

func answerWords(a marked, order string) string {
	if len(a.Hits) == 0 {
		return strings.TrimSuffix("no memory matches\n"+a.Note, "\n")
	}
	lines := []string{fmt.Sprintf("%d of %d memories, %s, quoted as stored:", len(a.Hits), max(a.Total, len(a.Hits)), order)}
	for i, h := range a.Hits {
		lines = append(lines, quote(h, a.matches[i]))
	}
	if a.Note != "" {
		lines = append(lines, "("+a.Note+")")
	}
	return strings.Join(lines, "\n")
}

// fitList is the reply with as many of n items as fit.
func fitList(n int, render func(n int) reply) reply {
	r := render(n)
	for n > 0 && size(r) > answerBudget {
		n--
		r = render(n)
	}
	return r
}
