package secrets

// maxListed is how many names and values of one assignment are read.
const maxListed = 8

var (
	listOpeners = alphabetOf("([{ \t")
	listClosers = alphabetOf(")]} \t")
)

// listedValue is where the value begins that a list of names gives this one by
// its place: user, password = "a", "b".
func listedValue(text []byte, name span) (int, bool) {
	if next := listClosers.after(text, name.end, 4); next == len(text) || text[next] != ',' && text[next] != '=' && text[next] != ':' {
		return 0, false
	}
	place := namesBefore(text, name.start)
	op, more := namesAfter(text, name.end)
	if place == 0 && more == 0 || op >= len(text) {
		return 0, false
	}
	if text[op] == ':' {
		op++
	}
	if op+1 >= len(text) || text[op] != '=' || text[op+1] == '=' {
		return 0, false
	}
	at := listOpeners.after(text, op+1, 8)
	for ; place > 0; place-- {
		end := at
		if quotes.at(text, at) {
			end = quotedEnd(text, at+1, min(len(text), at+maxValue)) + 1
		} else {
			end = nameChars.after(text, at, maxName)
		}
		comma := blanks.after(text, end, 4)
		if comma >= len(text) || text[comma] != ',' {
			return 0, false
		}
		at = spaces.after(text, comma+1, 40)
	}
	return at, quotes.at(text, at)
}

// namesBefore counts the names that a list holds before the one at start.
func namesBefore(text []byte, start int) int {
	n := 0
	for ; n < maxListed; n++ {
		comma := blanks.before(text, start, 4)
		if comma == 0 || text[comma-1] != ',' {
			break
		}
		end := blanks.before(text, comma-1, 4)
		start = nameChars.before(text, end, maxName)
		if start == end {
			break
		}
	}
	return n
}

// namesAfter is where the sign behind a list of names stands, and how many
// names follow the one that ends at end.
func namesAfter(text []byte, end int) (sign, n int) {
	for ; n < maxListed; n++ {
		comma := blanks.after(text, end, 4)
		if comma >= len(text) || text[comma] != ',' {
			break
		}
		start := blanks.after(text, comma+1, 4)
		next := nameChars.after(text, start, maxName)
		if next == start {
			break
		}
		end = next
	}
	return listClosers.after(text, end, 4), n
}
