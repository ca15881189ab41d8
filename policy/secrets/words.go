package secrets

import (
	"regexp"
)

// A wordCount says how much of a text is words, as names and prose have them.
// Words end at any other byte, at a digit, and where camel case begins a new
// one.
type wordCount struct {
	letters, inWords   int
	digits             int
	words, numbers     int // how many of each
	longestNumber      int
	separators, others int // bytes that join words, and all the rest
}

var wordSeparators = alphabetOf("-_./:\\ ,")

func countWords(b []byte) (n wordCount) {
	for i := 0; i < len(b); {
		end := i + 1
		switch c := b[i]; {
		case letters[c]:
			end = wordEnd(b, i)
			n.addWord(b[i:end])
		case digits[c]:
			end = digits.after(b, i, len(b))
			n.digits += end - i
			n.numbers++
			n.longestNumber = max(n.longestNumber, end-i)
		case wordSeparators[c]:
			n.separators++
		default:
			n.others++
		}
		i = end
	}
	return n
}

func (n *wordCount) addWord(w []byte) {
	n.letters += len(w)
	if isWord(w) || isTechnical(w) || isNounIn(w) {
		n.inWords += len(w)
		n.words++
	}
}

// isNounIn is isNoun for a word in any case.
func isNounIn(w []byte) bool {
	var buf [maxName]byte
	_, ok := nouns[string(lowerASCII(buf[:0], w[:min(len(w), maxName)]))]
	return ok && len(w) <= maxName
}

// wordShare is the share of letters and digits in b that belong to words.
func wordShare(b []byte) float64 {
	n := countWords(b)
	if n.letters+n.digits == 0 {
		return 0
	}
	return float64(n.inWords) / float64(n.letters+n.digits)
}

// joinsWords reports words and short numbers with nothing but separators, or
// capitals, between them: names of things.
func joinsWords(b []byte) bool {
	n := countWords(b)
	return n.others == 0 && n.words > 0 && n.inWords*4 >= n.letters*3 &&
		n.numbers <= n.words/2+2 && n.longestNumber <= 8
}

var snake = regexp.MustCompile(`^([A-Z]{2,14}\d{0,2}([_.-][A-Z]{1,14}\d{0,2})+|[a-z]{2,14}\d{0,2}([_.-][a-z]{1,14}\d{0,2})+)$`)

// isName reports words of one case with separators between them, such as
// those of an environment variable, whether English or not.
func isName(b []byte) bool {
	return snake.Match(b) && digits.count(b)*5 <= len(b)
}

// technical holds short words that English letter pairs miss, most of them of
// the trade.
var technical = setOf(
	"your", "you", "key", "keys", "only", "new", "old", "two", "now", "own", "by", "to", "of", "in", "on", "is", "or", "at", "an", "no", "log", "get", "yes",
	"sha", "md", "hmac", "pbkdf", "aes", "gcm", "cbc", "rsa", "dsa", "ecdsa", "ed", "hs", "rs", "es", "ps", "utf", "iso", "rfc",
	"jwt", "jws", "jwe", "jwk", "oauth", "totp", "hotp", "otp", "mfa", "tls", "ssl", "ssh", "http", "https", "argon", "bcrypt", "scrypt",
	"id", "db", "api", "url", "uri", "sql", "aws", "gcp", "kms", "hsm", "iam", "env", "cfg", "ctx", "pwd", "src", "pkg", "cmd",
	"v", "x", "my", "ci", "cd", "vm", "os", "ip", "k", "s", "ms", "mb", "gb", "kb", "px", "rc", "usr", "etc", "tmp", "www", "crc", "xyz",
	"github", "gitlab", "redis", "mysql", "kube", "bsd", "mit", "gpl", "lgpl", "yaml", "json", "xml", "html", "csv", "png", "svg", "pdf", "txt", "sdk", "cli", "gpg", "pgp",
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// maxTechnical is the length of the longest of those that are looked up.
const maxTechnical = 6

func isTechnical(w []byte) bool {
	var buf [maxTechnical]byte
	return len(w) <= maxTechnical && technical[string(lowerASCII(buf[:0], w))]
}

// wordEnd is where the word that starts at i ends: "parse" and "HTTP" in
// "parseHTTPHeader" end before the next capital that begins a word.
func wordEnd(b []byte, i int) int {
	end := i + 1
	for end < len(b) && letters[b[end]] {
		switch {
		case upper[b[end]] && lower[b[end-1]]:
			return end
		case lower[b[end]] && upper[b[end-1]] && end-1 > i:
			return end - 1
		}
		end++
	}
	return end
}

// isWord reports whether the neighboring letters in w are pairs that are
// common in English text: all in a short word, three quarters in a long one.
func isWord(w []byte) bool {
	if len(w) < 3 {
		return false
	}
	common := 0
	for i := 1; i < len(w); i++ {
		if commonPair[w[i-1]|0x20][w[i]|0x20] {
			common++
		}
	}
	return common == len(w)-1 || len(w) > 4 && common*4 >= (len(w)-1)*3
}

// commonPair holds the pairs of letters that make up nine tenths of the
// comments in the Go standard library.
var commonPair = pairTable(
	"abcdgilmnprst", "baeilosu", "cacehiklmortu", "dadeilorsu", "eacdefglmnpqrstvwx",
	"faefiloru", "geinors", "haeio", "iabcdefglmnoprstvz", "kei", "ladeilostuy", "maeimopsu",
	"nacdefginostv", "oabcdfglmnoprstuvw", "paeiloprstu", "qu", "racdegilmnorstuy",
	"sacehiklopstuy", "tacehiloprstuy", "uabceilmnprst", "vaeip", "waeir", "xpt", "yps", "ze",
)

// pairTable reads rows of a first letter and all its common followers.
func pairTable(rows ...string) (t [256]*alphabet) {
	none := alphabetOf("")
	for i := range t {
		t[i] = none
	}
	for _, row := range rows {
		t[row[0]] = alphabetOf(row[1:])
	}
	return t
}
