package rules

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"cairn/policy/secrets"
)

// maxFindings is how many mistakes are told of one file.
const maxFindings = 200

// A checker collects what is wrong with a file.
type checker struct {
	found   []Finding
	scanner *secrets.Scanner
	hidden  map[int]bool // lines of which nothing is repeated
}

func (c *checker) say(line, column int, format string, args ...any) {
	if len(c.found) < maxFindings {
		c.found = append(c.found, Finding{Line: max(line, 1), Column: max(column, 1), Message: fmt.Sprintf(format, args...)})
	}
}

// at says what is wrong at a node, in the part of the file that where names.
func (c *checker) at(n *yaml.Node, where, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if where != "" {
		message = where + ": " + message
	}
	c.say(n.Line, n.Column, "%s", message)
}

// maxQuoted is how much of the file's own words a message repeats.
const maxQuoted = 40

// unnamed stands for a word that is not repeated.
const unnamed = "this value"

// no says that there is nothing of that name.
func (c *checker) no(what string, n *yaml.Node) string {
	if word := c.quote(n); word != unnamed {
		return "no " + what + " " + word
	}
	return "no such " + what
}

// quote is a word of the file for a message, or what stands for it if it may
// be more than a word.
func (c *checker) quote(n *yaml.Node) string {
	s := n.Value
	plain := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) < 0
	if len(c.found) >= maxFindings || s == "" || len(s) > maxQuoted || !plain || c.hidden[n.Line] || looksIssued(s) || len(c.scanner.Scan([]byte(s))) > 0 {
		return unnamed
	}
	return `"` + s + `"`
}

// looksIssued reports words that hold a long run of letters mixed with digits,
// as no word does that a person makes up.
func looksIssued(s string) bool {
	run, digits := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			run, digits = run+1, digits+1
		case unicode.IsLetter(r):
			run++
		default:
			run, digits = 0, 0
		}
		if run >= 12 && digits >= 3 {
			return true
		}
	}
	return false
}
