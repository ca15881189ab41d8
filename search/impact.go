package search

import "math"

// The weight of a word by where it stands, and BM25's two constants. averageLen
// is fixed so that the impact of a word on a note never changes afterwards.
const (
	titleWeight = 10
	tagWeight   = 5
	bodyWeight  = 1
	k1          = 1.2
	b           = 0.5
	averageLen  = 55
)

// levels is how many steps an impact is rounded to.
const levels = 16

// A level is a rounded impact, 0 the least.
type level uint8

// levelOf is the level of a word of weighted frequency f in a note of so many
// words. The impact is BM25 without the part that depends on other notes; it
// lies between 0 and k1+1.
func levelOf(f float64, words int) level {
	x := f * (k1 + 1) / (f + k1*(1-b+b*float64(words)/averageLen))
	step := math.Ceil(x / (k1 + 1) * levels)
	return level(min(max(step, 1), levels) - 1)
}

// gain is what a level adds to the score of a note, per unit of weight.
func (l level) gain() uint32 { return uint32(l) + 1 }

// weightScale is how finely weights are rounded. Scores are whole numbers, so
// that they do not depend on the order in which they are added up.
const weightScale = 64

// weightOf is what a word says by being rare: found in df of n notes. It is
// BM25's inverse document frequency, never less than a little.
func weightOf(df, n uint64) uint32 {
	n = max(n, df)
	idf := math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
	return max(uint32(math.Round(idf*weightScale)), 1)
}

// scoreOf is an accumulated score on the scale of BM25.
func scoreOf(acc uint32) float64 {
	return float64(acc) / weightScale * (k1 + 1) / levels
}
