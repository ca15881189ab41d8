package secrets

import "bytes"

// join puts pieces together that belong to one token: lines (with the marks a
// quotation, a comment or a list puts before each), string literals that a
// program adds up, and stretches that markdown or HTML sets apart. Words of
// neighboring lines meet here, so only self-identifying rules read it.
func join(v view) (view, bool) {
	if !bytes.ContainsAny(v.text, "\n\t\r*`~<\"'") && !bytes.Contains(v.text, []byte("/*")) {
		return view{}, false
	}
	r := rewriter{in: v.text}
	for i := 0; i < len(v.text); {
		s := joint(v.text, i)
		if s.end > i {
			s.start = max(s.start, r.next)
			r.replace(s)
		}
		i = max(s.end, i+1)
	}
	return r.view(asJoined, v)
}

// joint is what stands at i, and may begin before it, only to part two pieces.
func joint(text []byte, i int) span {
	size := 0
	switch text[i] {
	case '\n':
		return lineJoint(text, i)
	case '"', '\'':
		size = quoteJoint(text, i)
	case '`':
		size = max(1, quoteJoint(text, i))
	case '<':
		if size = tagJoint(text[i:min(len(text), i+60)]); size == 0 {
			size = commentJoint(text, i, "<!--", "-->")
		}
	case '/':
		size = commentJoint(text, i, "/*", "*/")
	case '~':
		if size = 2; !bytes.HasPrefix(text[i:], []byte("~~")) {
			size = 0
		}
	case '*', '\t', '\r':
		size = 1
	}
	return span{i, i + size}
}

// Blanks are skipped up to this many, which keeps the work linear.
const maxIndent = 256

var (
	lineEnd   = alphabetOf(" \t\r\\")
	lineStart = alphabetOf(" \t\r\n>#*|")
)

// lineJoint is a line end with blanks and a continuation mark before it, and
// the marks that begin the next line.
func lineJoint(text []byte, i int) span {
	start := lineEnd.before(text, i, maxIndent)
	end := lineStart.after(text, i, maxIndent)
	if rest := text[end:]; bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("-- ")) {
		end = blanks.after(text, end+2, maxIndent)
	}
	if mark := text[min(i+1, len(text)-1)]; (mark == '+' || mark == '-') && mark == lineMark(text, i) {
		end = lineStart.after(text, i+2, maxIndent) // both lines are of one side of a diff
	}
	return span{start, end}
}

// lineMark is the first character of the line that ends at i.
func lineMark(text []byte, i int) byte {
	from := max(0, i-maxIndent)
	start := from + bytes.LastIndexByte(text[from:i], '\n') + 1
	return text[start]
}

var quoteMarks = alphabetOf(">#*|/ \t")

// unquote takes the marks off that a quotation or a comment puts before each
// line, and keeps the lines.
func unquote(v view) (view, bool) {
	if !bytes.ContainsAny(v.text, ">#*|/") {
		return view{}, false
	}
	r := rewriter{in: v.text}
	for i := 0; i < len(v.text); {
		end := quoteMarks.after(v.text, i, maxIndent)
		if mark := bytes.IndexAny(v.text[i:end], ">#*|/"); mark >= 0 {
			r.replace(span{i, blanks.after(v.text, i+mark+1, 1)})
		}
		newline := bytes.IndexByte(v.text[end:], '\n')
		if newline < 0 {
			break
		}
		i = end + newline + 1
	}
	return r.view(asUnquoted, v)
}

var stringOperators = alphabetOf("+.&,|~_<> \t\r\n\\")

// quoteJoint is one literal's end, an operator or nothing, and the next one's
// begin.
func quoteJoint(text []byte, i int) int {
	end := stringOperators.after(text, i+1, maxIndent)
	if end == len(text) || text[end] != '"' && text[end] != '\'' && (text[end] != '`' || text[i] != '`') {
		return 0
	}
	if end == i+1 && !isBetween(text, i, end+1) {
		return 0 // an empty literal
	}
	return end + 1 - i
}

// isBetween reports two pieces of a token that touch a stretch of text.
func isBetween(text []byte, start, end int) bool {
	return tokenChars.at(text, start-1) && tokenChars.at(text, end)
}

var tokenChars = alphabetOf(numerals + lowers + uppers + "+/-_=.:")

// maxTagName is how long the name of a tag may be. What is longer, or holds
// anything else, is text in angle brackets.
const maxTagName = 12

var tagNameEnd = alphabetOf("> /")

// tagJoint is a short HTML tag or comment, whatever stands beside it.
func tagJoint(s []byte) int {
	if bytes.HasPrefix(s, []byte("<!--")) {
		if end := bytes.Index(s, []byte("-->")); end > 0 && end < 20 {
			return end + 3
		}
		return 0
	}
	name := 1
	if len(s) > 1 && s[1] == '/' {
		name++
	}
	if end := base62.after(s, name, maxTagName); !letters.at(s, name) || !tagNameEnd.at(s, end) {
		return 0
	}
	if end := 1 + bytes.IndexAny(s[1:], "<>\n"); end > 0 && s[end] == '>' {
		return end + 1
	}
	return 0
}

// maxComment is how long a comment between two pieces may be.
const maxComment = 120

// commentJoint is a comment within a word: one that stands apart may hold the
// token.
func commentJoint(text []byte, i int, opens, closes string) int {
	s := text[i:min(len(text), i+maxComment)]
	if !bytes.HasPrefix(s, []byte(opens)) {
		return 0
	}
	inner := bytes.Index(s[len(opens):], []byte(closes))
	size := len(opens) + inner + len(closes)
	if inner < 0 || !isBetween(text, i, i+size) {
		return 0
	}
	return size
}
