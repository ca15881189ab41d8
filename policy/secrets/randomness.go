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
	return isOfFew(body) || entropy(body) < 0.62*maxEntropy(body) || countsUp(body) || repeats(body)
}

// isOfFew reports ten bytes or more of at most four kinds, whose entropy is too
// low for a text of any kind; most texts show that they have more at once.
func isOfFew(b []byte) bool {
	if len(b) < 10 {
		return false
	}
	var seen [256]bool
	kinds := 0
	for _, c := range b {
		if seen[c] {
			continue
		}
		seen[c] = true
		if kinds++; kinds > 4 {
			return false
		}
	}
	return true
}

// entropy is the Shannon entropy of the bytes of b, in bits a byte.
func entropy(b []byte) float64 {
	if len(b) == 0 {
		return 0
	}
	var seen [256]uint32
	var kinds [256]byte
	distinct := 0
	for _, c := range b {
		if seen[c] == 0 {
			kinds[distinct] = c
			distinct++
		}
		seen[c]++
	}
	n, h := float64(len(b)), 0.0
	for _, c := range kinds[:distinct] {
		p := float64(seen[c]) / n
		h -= p * math.Log2(p)
	}
	return h
}

// maxEntropy is what entropy could reach for a text of that length and kind,
// a prefix and separators not counted.
func maxEntropy(b []byte) float64 {
	var n struct{ digits, hex, lower, upper int }
	for _, c := range b {
		switch {
		case digits[c]:
			n.digits++
		case lower[c]:
			n.lower++
		case upper[c]:
			n.upper++
		}
		if anyHex[c] {
			n.hex++
		}
	}
	size := 62
	most := len(b) * 9 / 10
	switch {
	case n.digits >= most:
		size = 10
	case n.hex >= most:
		size = 16
	case n.lower >= most, n.upper >= most:
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
