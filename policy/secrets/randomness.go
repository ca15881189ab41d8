package secrets

import "math"

// looksRandom reports whether a token's body could have been drawn at random:
// no filler, no counting up, no short pattern, no words. It never asks which
// words: people put "test" and "example" into real secrets.
func looksRandom(body []byte) bool {
	if len(body) < 8 {
		return true
	}
	if isFiller(body) || isName(body) {
		return false
	}
	if len(body) < 24 { // a few letters are a word by chance
		return wordShare(body) < 0.85 || digits.count(body) > 1
	}
	return wordShare(body) < 0.6
}

// isFiller reports bodies such as xxxx…, 12345678… or abcabcabc….
func isFiller(body []byte) bool {
	return entropy(body) < 0.62*maxEntropy(body) || countsUp(body) || repeats(body)
}

// entropy is the Shannon entropy of the bytes of b, in bits a byte.
func entropy(b []byte) float64 {
	if len(b) == 0 {
		return 0
	}
	var seen [256]int
	for _, c := range b {
		seen[c]++
	}
	n, h := float64(len(b)), 0.0
	for _, k := range seen {
		if k > 0 {
			p := float64(k) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}

// maxEntropy is what entropy could reach for a text of that length and kind,
// a prefix and separators not counted.
func maxEntropy(b []byte) float64 {
	size := 62
	most := len(b) * 9 / 10
	switch {
	case digits.count(b) >= most:
		size = 10
	case anyHex.count(b) >= most:
		size = 16
	case lower.count(b) >= most, upper.count(b) >= most:
		size = 26
	}
	return math.Log2(float64(min(len(b), size)))
}

// countsUp reports runs such as 0123456789abcdef: most bytes follow their
// neighbor by one, up or down.
func countsUp(b []byte) bool {
	steps := 0
	for i := 1; i < len(b); i++ {
		if d := int(b[i]) - int(b[i-1]); d == 1 || d == -1 {
			steps++
		}
	}
	return len(b) > 3 && steps*10 >= (len(b)-1)*6
}

// switchesCase reports letters of which every third, or more, has another case
// than the one before it, and some have not. Names in camel case switch as
// often, but hardly ever have two capitals in a row.
func switchesCase(b []byte) bool {
	switches, capitals := 0, 0
	for i := 1; i < len(b); i++ {
		switch {
		case upper[b[i]] && lower[b[i-1]], lower[b[i]] && upper[b[i-1]]:
			switches++
		case upper[b[i]] && upper[b[i-1]]:
			capitals++
		}
	}
	return switches*3 >= len(b) && capitals > 1
}

// repeats reports a text made of one short piece, at least three times.
func repeats(b []byte) bool {
	for period := 1; period <= min(len(b)/3, 16); period++ {
		same := 0
		for i := period; i < len(b); i++ {
			if b[i] == b[i-period] {
				same++
			}
		}
		if same*20 >= (len(b)-period)*19 {
			return true
		}
	}
	return false
}
