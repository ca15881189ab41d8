package secrets

import (
	"bytes"
	"regexp"
)

// A piece of a token is at most this long, one that may be told from words at
// least minPiece.
const (
	minPiece = 3
	maxPiece = 128
)

var pieceChars = alphabetOf(numerals + lowers + uppers + "+/-_=")

// readPieces puts a token together that was cut up to be sent or printed:
// with blanks, dashes, dots, cell borders, item numbers or names of variables
// between its pieces.
func readPieces(v view) (view, bool) {
	r := rewriter{in: v.text}
	goesOn := false // the word at i belongs to the one before
	begun := false  // the line before ends with no more of a token than its prefix
	for i := 0; i < len(v.text); {
		end := pieceChars.after(v.text, i, maxPiece)
		next := end
		if goesOn || isPiece(v.text[i:end]) {
			next = gapAfter(v.text, end)
		}
		if next > end {
			lineEnds := bytes.IndexByte(v.text[end:next], '\n') >= 0
			if begun && !lineEnds {
				next = end // more words follow: the line is a sentence
			}
			begun = lineEnds && (begun || !goesOn && isPrefix(v.text[i:end]))
		}
		goesOn = next > end && continues(v.text[next:pieceChars.after(v.text, next, maxPiece)])
		begun = begun && goesOn
		if goesOn {
			r.replace(span{end, next})
		}
		i = max(next, i+1)
	}
	return r.view(asPieced, v)
}

// continues reports what may go on with a token: a piece, or a shorter one
// with a digit or a capital within.
func continues(b []byte) bool {
	numbers, capitals, _ := shape(b)
	return numbers > 0 || capitals > 0
}

// isPiece reports the beginning of a token, and what has letters and digits,
// or capitals within that no name has there.
func isPiece(b []byte) bool {
	if len(b) < minPiece {
		return false
	}
	numbers, capitals, marks := shape(b)
	switch {
	case isPrefix(b):
		return true
	case numbers > 0:
		return numbers < len(b) || numbers >= 8
	case capitals == 0:
		return false
	case marks > 0:
		return true // a prefix, and what begins behind it
	}
	return len(b) >= 6 && (switchesCase(b) || wordShare(b) == 0)
}

// isPrefix reports what a token may begin with, and no more of it.
func isPrefix(b []byte) bool {
	return len(b) > 0 && letters[b[0]] && (b[len(b)-1] == '_' || b[len(b)-1] == '-')
}

// shape counts the digits, the capitals behind the first character, and the
// dashes in b.
func shape(b []byte) (numbers, capitals, marks int) {
	for i, c := range b {
		switch {
		case digits[c]:
			numbers++
		case upper[c] && i > 0:
			capitals++
		case c == '_' || c == '-':
			marks++
		}
	}
	return numbers, capitals, marks
}

// maxGap bounds what is read between two pieces.
const maxGap = 60

var gap = regexp.MustCompile(`^(?:[ \t]*\.\.\.[ \t]*` + // an ellipsis
	`|[ \t,;.]+(?:and )?(?:the )?(?:second|other|last|next) (?:half|part)(?: is)?:?[ \t]+` +
	`|[ \t]*[,;.][ \t]*\p{Han}{1,8}[ \t:]+` + // 后半段
	`|[ \t]*\|[ \t]*\r?\n[ \t]*\|[^|\n]{1,16}\|[ \t]*` + // the next row, behind what it is called
	`|[ \t]*\r?\n[ \t]*(?:\d{1,2}[.)][ \t]+|[-*+>|][ \t]*)?` + // the next line or item
	`|["'][ \t]*[,;]?[ \t\n]*(?:(?:const|let|var) )?\w{1,12}[ \t]*:?=[ \t]*["']` + // the next variable
	`|[ \t]+(?:[-|+>][ \t]+)?)`) // blanks, a dash, the border of a cell

// gapAfter is where the next piece begins, or at itself.
func gapAfter(text []byte, at int) int {
	if at >= len(text) || bytes.IndexByte([]byte(" \t\r\n.\"',;|"), text[at]) < 0 {
		return at
	}
	return at + len(gap.Find(text[at:min(len(text), at+maxGap)]))
}
