package secretstest

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

const (
	numerals = "0123456789"
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// sets are the alphabets that templates name.
var sets = map[string]string{
	"dig": numerals, "low": lowers, "up": uppers, "let": lowers + uppers,
	"hex": numerals + "abcdef", "HEX": numerals + "ABCDEF",
	"b32low": lowers + "234567",
	"b32":    uppers + "234567", "b36": numerals + lowers, "B36": numerals + uppers,
	"b62": numerals + lowers + uppers, "b64": numerals + lowers + uppers + "+/", "b64u": numerals + lowers + uppers + "-_",
	"b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
	"dj":  numerals + lowers + "!@#$%^&*(-_=+)",
	"az":  numerals + lowers + uppers + "-_.~",
}

var hole = regexp.MustCompile(`\[(\w+)(?::(\d+)(?:-(\d+))?)?\]`)

// fill makes a text from a template: [b62:36] is 36 random characters of a
// set, [hex:20-40] 20 to 40 of them, [uuid] and the other names of words one
// such thing. Other brackets stay.
func fill(r *rand.Rand, template string) string {
	return hole.ReplaceAllStringFunc(template, func(h string) string {
		parts := hole.FindStringSubmatch(h)
		if set, ok := sets[parts[1]]; ok && parts[2] != "" {
			return random(r, set, length(r, parts[2], parts[3]))
		}
		if make, ok := makers[parts[1]]; ok {
			return make(r)
		}
		return h
	})
}

func length(r *rand.Rand, low, high string) int {
	from, _ := strconv.Atoi(low) // the expression admits only digits
	if high == "" {
		return from
	}
	to, _ := strconv.Atoi(high)
	return from + r.IntN(to-from+1)
}

func random(r *rand.Rand, set string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(set[r.IntN(len(set))])
	}
	return b.String()
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
