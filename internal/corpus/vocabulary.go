package corpus

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A zipf draws ranks as words of a language come: the second half as often as
// the first, and so on.
type zipf []float64

func newZipf(n int) zipf {
	z := make(zipf, n)
	sum := 0.0
	for i := range z {
		sum += 1 / math.Pow(float64(i)+2.7, 1.05) // the constants of Mandelbrot's form for English
		z[i] = sum
	}
	return z
}

func (z zipf) draw(r *rand.Rand) int {
	at, _ := slices.BinarySearch(z, r.Float64()*z[len(z)-1])
	return min(at, len(z)-1)
}

// A lexicon is words and how often each comes.
type lexicon struct {
	words []string
	ranks zipf
}

func newLexicon(words []string) lexicon { return lexicon{words, newZipf(len(words))} }

func (l lexicon) draw(r *rand.Rand) string { return l.words[l.ranks.draw(r)] }

// rareWords are tens of thousands of words that hardly anybody uses: common
// ones with endings, and names.
func rareWords(r *rand.Rand) []string {
	var out []string
	seen := map[string]bool{}
	add := func(word string) {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	for _, stem := range slices.Concat(nouns, verbs) {
		for _, prefix := range prefixes {
			add(prefix + stem + suffixes[r.IntN(len(suffixes))])
		}
		for _, suffix := range suffixes {
			add(stem + suffix)
		}
	}
	for range 20_000 {
		add(name(r))
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// name is what a project or a person may be called.
func name(r *rand.Rand) string {
	var b strings.Builder
	for range 2 + r.IntN(2) {
		b.WriteString(pick(r, onsets))
		b.WriteString(pick(r, rhymes))
	}
	return b.String()
}

// identifier is a name as it stands in code.
func identifier(r *rand.Rand) string {
	verb, noun, other := pick(r, verbs), pick(r, nouns), pick(r, nouns)
	switch r.IntN(7) {
	case 0:
		return noun + "_" + other
	case 1:
		return verb + upper(noun)
	case 2:
		return upper(pick(r, adjectives)) + upper(noun) + upper(other)
	case 3:
		return noun + "." + upper(verb)
	case 4:
		return noun + "/" + other + "/" + verb + pick(r, extensions)
	case 5:
		return "--" + verb + "-" + noun
	default:
		return noun + "-" + other
	}
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// upper begins with a capital; word begins with an ASCII character.
func upper(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
