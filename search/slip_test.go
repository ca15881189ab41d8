package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/search/query"
)

// What is one slip away in its first letter, and nothing else, is among the words
// that are looked up one by one.
func TestSlipsInTheFirstLetterAreAllLookedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"}).Draw(t, "alphabet")
		letters := rapid.RuneFrom([]rune(alphabet))
		word := []rune(rapid.StringOfN(letters, minFirstSlip, 12, -1).Draw(t, "word"))
		other := letters.Draw(t, "other")
		forms := firstSlips(string(word))
		for what, form := range map[string][]rune{
			"another":  append([]rune{other}, word[1:]...),
			"one more": append([]rune{other}, word...),
			"none":     word[1:],
			"swapped":  append([]rune{word[1], word[0]}, word[2:]...),
		} {
			if !slices.Contains(forms, string(form)) {
				t.Fatalf("%s: %q is not looked up for %q", what, string(form), string(word))
			}
		}
		for _, form := range forms {
			if !isSlip(string(word), form) {
				t.Fatalf("%q is looked up for %q, and is more than a slip away", form, string(word))
			}
		}
	})
}

// Whatever two words are, whether they are one slip apart is what the automaton
// says that looks for such terms.
func TestASlipIsWhatTheAutomatonTakesForOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.RuneFrom([]rune("abcé日"))
		a := []rune(rapid.StringOfN(letters, 1, 7, -1).Draw(t, "a"))
		b := slices.Clone(a)
		for range rapid.IntRange(0, 2).Draw(t, "slips") {
			at := rapid.IntRange(0, len(b)).Draw(t, "at")
			switch {
			case at+1 < len(b) && rapid.Bool().Draw(t, "swap"):
				b[at], b[at+1] = b[at+1], b[at]
			case at < len(b) && rapid.Bool().Draw(t, "leave out"):
				b = slices.Delete(b, at, at+1)
			case at < len(b) && rapid.Bool().Draw(t, "replace"):
				b[at] = letters.Draw(t, "letter")
			default:
				b = slices.Insert(b, at, letters.Draw(t, "letter"))
			}
		}
		slips, err := slipsOf(string(a))
		if err != nil {
			t.Fatal(err)
		}
		term := termKey(stemTerm, string(b)) + "x"
		st := slips.Start()
		for i := range len(term) {
			st = slips.Accept(st, term[i])
		}
		if got, want := isSlip(string(a), string(b)), slips.IsMatch(st); got != want {
			t.Fatalf("%q is a slip for %q: %v, want %v", string(b), string(a), got, want)
		}
	})
}

// A pasted log is full of words that no note holds; each that is looked for as
// another takes longer than a question.
func TestOnlySomeWordsAreTakenForOthers(t *testing.T) {
	x, err := Open(t.TempDir(), Options{FS: disktest.Unsynced(disk.OS)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	words := strings.Fields("kettle ladder window basket garden pillow mirror carpet bottle hammer candle blanket")
	b := Batch{Space: "team", Put: []Doc{{ID: event.NewID(time.Now()), Title: "Things", Body: strings.Join(words, " ")}}}
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(words); n++ {
		var typed []string
		for _, w := range words[:n] {
			typed = append(typed, w[:3]+"x"+w[3:])
		}
		err := x.withView(func(v *view) error {
			p, err := newPlan(narrower{view: v, now: time.Now()}, query.Parse(strings.Join(typed, " ")), false)
			if want := min(n, maxRespelled); err == nil && len(p.misspelled) != want {
				t.Errorf("of %d words %q are taken for others, want %d", n, p.misspelled, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
