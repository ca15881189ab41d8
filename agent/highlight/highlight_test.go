package highlight_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/agent/api"
	"cairn/agent/highlight"
)

func hit() api.Hit {
	return api.Hit{Title: "Postgres for billing", Text: "We chose Postgres for Billing.", Snippet: "We chose Postgres for Billing."}
}

func TestPaintMarksWhatMatched(t *testing.T) {
	h := hit()
	title, snippet := highlight.Paint("which database did we choose for billing", h, h.Title, h.Snippet, "<", ">")
	if title != "Postgres for <billing>" || snippet != "We <chose> Postgres for <Billing>." {
		t.Errorf("painted %q and %q", title, snippet)
	}
}

func TestWordsAreThoseOfTheNote(t *testing.T) {
	if got := highlight.Words("choose postgres billing", hit(), 5); !slices.Equal(got, []string{"Postgres", "billing", "chose"}) {
		t.Errorf("words are %q", got)
	}
	if got := highlight.Words("choose postgres billing", hit(), 2); len(got) != 2 {
		t.Errorf("of two words at most there are %q", got)
	}
}

// What stands in the place of a note is no text that anybody found.
func TestNothingIsMarkedInWhatIsNotTheNote(t *testing.T) {
	for _, h := range []api.Hit{{Title: "(redacted)", State: api.Redacted}, {Title: "(written by a newer cairn)", Newer: true}} {
		if title, _ := highlight.Paint("redacted newer", h, h.Title, "", "<", ">"); title != h.Title {
			t.Errorf("painted %q", title)
		}
		if got := highlight.Words("redacted newer", h, 5); len(got) > 0 {
			t.Errorf("words %q", got)
		}
	}
}

// Without its marks a painted text is the text.
func TestPaintingAddsOnlyMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		words := strings.Fields(text)
		query := rapid.String().Draw(t, "query")
		if len(words) > 0 {
			query = rapid.SampledFrom(words).Draw(t, "word")
		}
		const before, after = "\x1b[1m", "\x1b[22m"
		_, got := highlight.Paint(query, api.Hit{Text: text}, "", text, before, after)
		if plain := strings.NewReplacer(before, "", after, "").Replace(got); plain != strings.NewReplacer(before, "", after, "").Replace(text) {
			t.Fatalf("%q is painted %q", text, got)
		}
	})
}
