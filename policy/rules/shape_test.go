package rules_test

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/policy/rules"
	"cairn/policy/secrets"
)

func expression(t interface{ Fatal(...any) }, expr string) *syntax.Regexp {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func TestTheLiteralsOfAnExpression(t *testing.T) {
	for expr, want := range map[string]string{
		`adk_[0-9]{40}`:                "adk_",
		`[0-9]+-acme-[0-9]+`:           "-acme-",
		`(?:live|test)_key_[0-9]+`:     "_key_",
		`(?:alpha|beta)[0-9]+`:         "alpha beta",
		`(?i)acme[0-9]+`:               "ACME",
		`(acme)(-)(key)[0-9]`:          "acme-key",
		`\bacme\b_[0-9]`:               "acme_",
		`(?:abc){2,}x?`:                "abc",
		`(?:abc)?xyz`:                  "xyz",
		`schlüssel_[0-9]+`:             "ssel_",
		`[0-9]{9}`:                     "",
		`(?:abc)*`:                     "",
		`a|bcd`:                        "a bcd",
		`(?:abc|[0-9])x`:               "x",
		`(?:one|two|six|four)-[a-z]+x`: "one two six four",
		`(?:prod_|preview_)[0-9]`:      "od_ eview_", // what they begin with alike is taken out
	} {
		literals, _ := rules.Shape(expression(t, expr))
		got := slices.Sorted(slices.Values(literals))
		words := strings.Fields(want)
		slices.Sort(words)
		if !slices.Equal(got, words) {
			t.Errorf("%s: %q, want %q", expr, got, words)
		}
	}
}

// parts of expressions that are put together at random.
var parts = []string{
	`adk_`, `[0-9a-f]`, `[^a]`, `.`, `\w`, `ü`, `(?i:key)`, `\b`, `x`, `(?:abc|de)`, `-`, `[[:punct:]]`, `\pL`, `(?:)`,
}

func drawExpression(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom(parts).Draw(t, "part")
	}
	a, b := drawExpression(t, depth-1), drawExpression(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(?:" + a + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{1,3}", "{2,}"}).Draw(t, "times") + b
	case 2:
		return "(" + a + ")" + b
	default:
		return a + b
	}
}

// What is said of all matches is true of each: it matches, holds one of the
// literals in some case, and is no longer than was said.
func TestWhatIsSaidOfAnExpressionIsTrueOfItsMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := drawExpression(t, 3)
		if strings.Contains(expr, `\b`) {
			return // whether a boundary stands between two random characters is not made sure of
		}
		literals, longest := rules.Shape(expression(t, expr))
		match := regexp.MustCompile(`\A(?:` + expr + `)\z`)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 5 {
			s, ok := rules.Sample(expression(t, expr), r)
			if !ok {
				t.Fatalf("%s is too large", expr)
			}
			if !match.MatchString(s) {
				t.Fatalf("%q is no match of %s", s, expr)
			}
			has := func(l string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(l)) }
			if len(literals) > 0 && !slices.ContainsFunc(literals, has) {
				t.Fatalf("%q, a match of %s, holds none of %q", s, expr, literals)
			}
			if longest >= 0 && len(s) > longest {
				t.Fatalf("%q, a match of %s, has %d bytes, more than %d", s, expr, len(s), longest)
			}
		}
	})
}

func TestOrdinaryTextIsOrdinary(t *testing.T) {
	if f := secrets.New().Scan([]byte(rules.Ordinary)); len(f) > 0 {
		t.Errorf("%+v", f)
	}
}

func TestGuessesOfWords(t *testing.T) {
	known := []string{"push", "event", "observe", "skill_edit", "retention"}
	for word, want := range map[string]string{
		"pusg": "push", "psuh": "push", "push_byte": "push", "observ": "observe", "Observe": "observe", "skil_edit": "skill_edit", "retnetion": "retention",
		"size": "", "x": "", "": "", strings.Repeat("push", 100): "", "events": "event",
	} {
		if got := rules.Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-d]{0,6}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if (rules.Edits(a, b) == 0) != (a == b) || rules.Edits(a, b) != rules.Edits(b, a) || rules.Edits(a, b+c) > rules.Edits(a, b)+len(c) {
			t.Fatalf("%q and %q: %d", a, b, rules.Edits(a, b))
		}
	})
}

// A large file is checked within bounds, whatever it is full of.
func TestAFullFileIsChecked(t *testing.T) {
	for name, piece := range map[string]string{
		"unknown keys": "key%d: 1\n", "brackets": "[", "braces": "{", "questions": "? ", "dashes": "- ", "comments": "#%d\n", "quotes": `"`,
		"anchors": "- &a%d x\n", "aliases": "- *a%d\n", "blocks": "|\n ", "tabs": "\t", "groups": "g%d: [x%d]\n",
	} {
		var b strings.Builder
		b.WriteString(map[string]string{"groups": "groups:\n"}[name])
		for i := 0; b.Len() < rules.MaxFile/8; i++ {
			b.WriteString(strings.ReplaceAll(piece, "%d", string(rune('a'+i%26))+strings.Repeat("z", i/26%7)))
		}
		if got := said([]byte(b.String())); got == "" || strings.Count(got, "\n") > 300 {
			t.Errorf("%s: %d lines", name, strings.Count(got, "\n"))
		}
	}
}
