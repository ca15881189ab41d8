package search

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is one slip away in its first letter, and nothing else, is among the words
// that are looked up one by one.
func TestSlipsInTheFirstLetterAreAllLookedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"}).Draw(t, "alphabet")
		letters := rapid.RuneFrom([]rune(alphabet))
		word := []rune(rapid.StringOfN(letters, minFirstSlip, 12, -1).Draw(t, "word"))
		other := letters.Draw(t, "other")
		slips, err := slipsOf(string(word))
		if err != nil {
			t.Fatal(err)
		}
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
			if !slips.accept(form, "") {
				t.Fatalf("%q is looked up for %q, and is more than a slip away", form, string(word))
			}
		}
	})
}
