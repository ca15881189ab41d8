package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr the first time and returns the
// same expression each time. It panics if expr cannot be compiled, as
// regexp.MustCompile does. It is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
