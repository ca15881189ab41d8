package golden

import "fmt"

// maxSlips is how many letters a name may differ from the one that was meant.
const maxSlips = 2

// maxMeant is how many bytes a name may have to be compared with others: what is
// longer was not typed, and comparing takes the square of it.
const maxMeant = 256

// meant is the end of a message about a name that is not known: which known
// name it is nearest to, if it is near any.
func meant(name string, known map[string]string) string {
	best, least := "", maxSlips+1
	for k := range known {
		if d := distance(name, k); d < least || d == least && k < best {
			best, least = k, d
		}
	}
	if least > maxSlips || least >= len([]rune(name)) {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many letters have to be put in, taken out or replaced, but no
// more than maxSlips+1. Names that are too long to compare are that far apart.
func distance(a, b string) int {
	if max(len(a), len(b)) > maxMeant {
		return maxSlips + 1
	}
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > maxSlips || len(y)-len(x) > maxSlips {
		return maxSlips + 1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(y)], maxSlips+1)
}
