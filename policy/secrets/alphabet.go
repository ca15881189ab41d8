package secrets

// An alphabet is the set of bytes that a stretch of a token may hold.
type alphabet [256]bool

func alphabetOf(chars string) *alphabet {
	var a alphabet
	for i := range len(chars) {
		a[chars[i]] = true
	}
	return &a
}

const (
	numerals = "0123456789"
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	digits    = alphabetOf(numerals)
	lower     = alphabetOf(lowers)
	upper     = alphabetOf(uppers)
	letters   = alphabetOf(lowers + uppers)
	lowerHex  = alphabetOf(numerals + "abcdef")
	upperHex  = alphabetOf(numerals + "ABCDEF")
	anyHex    = alphabetOf(numerals + "abcdefABCDEF")
	base32std = alphabetOf(uppers + "234567")
	base36    = alphabetOf(numerals + lowers)
	upper36   = alphabetOf(numerals + uppers)
	base58    = alphabetOf("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
	base62    = alphabetOf(numerals + lowers + uppers)
	base64std = alphabetOf(numerals + lowers + uppers + "+/")
	base64url = alphabetOf(numerals + lowers + uppers + "-_")
	base64any = alphabetOf(numerals + lowers + uppers + "+/-_=")
	bech32    = alphabetOf("qpzry9x8gf2tvdw0s3jn54khce6mua7l" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
	wordChars = alphabetOf(numerals + lowers + uppers + "_")
	blanks    = alphabetOf(" \t")
	spaces    = alphabetOf(" \t\r\n")
)

// after is where the run of a that starts at from ends, at most limit bytes on.
func (a *alphabet) after(text []byte, from, limit int) int {
	end := min(len(text), from+limit)
	for from < end && a[text[from]] {
		from++
	}
	return from
}

// before is where the run of a that ends at to starts, at most limit bytes back.
func (a *alphabet) before(text []byte, to, limit int) int {
	start := max(0, to-limit)
	for to > start && a[text[to-1]] {
		to--
	}
	return to
}

func (a *alphabet) holdsAll(text []byte) bool {
	return a.after(text, 0, len(text)) == len(text)
}

func (a *alphabet) count(text []byte) int {
	n := 0
	for _, c := range text {
		if a[c] {
			n++
		}
	}
	return n
}

// at reports whether the byte at i, if there is one, belongs to a.
func (a *alphabet) at(text []byte, i int) bool {
	return i >= 0 && i < len(text) && a[text[i]]
}
