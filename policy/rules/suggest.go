package rules

import "strings"

// meant is the end of a message about an unknown word: the known one that is
// nearest to it, or else all there are.
func meant(word, what string, known []string) string {
	if near := nearest(word, known); near != "" {
		return `; did you mean "` + near + `"?`
	}
	if len(known) == 0 || len(known) > 16 {
		return ""
	}
	return "; " + what + " are " + strings.Join(known, ", ")
}

// nearest is the known word with the fewest edits from word, if these are few
// enough for a slip: a third of the letters, or one. A word that begins or
// ends like a known one counts as near as well.
func nearest(word string, known []string) string {
	if len(word) > maxQuoted {
		return ""
	}
	best, fewest := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := edits(strings.ToLower(word), k); d < fewest {
			best, fewest = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(k) > 3 && (strings.HasPrefix(word, k) || strings.HasSuffix(word, k)) {
			return k
		}
	}
	return ""
}

// edits is the Damerau-Levenshtein distance (optimal string alignment) of two
// words: letters changed, put in, left out, and neighbors exchanged.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
