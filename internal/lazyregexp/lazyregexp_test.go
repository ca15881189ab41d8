package lazyregexp_test

import (
	"testing"

	"cairn/internal/lazyregexp"
)

func TestAnExpressionIsCompiledOnceWhenItIsUsed(t *testing.T) {
	broken := lazyregexp.New(`(`) // nothing happens yet
	form := lazyregexp.New(`^[a-z]{3}$`)
	if !form().MatchString("abc") || form().MatchString("abcd") {
		t.Error("the expression does not match what it says")
	}
	if first, again := form(), form(); first != again {
		t.Error("the expression was compiled twice")
	}
	for range 2 {
		if !panics(func() { broken() }) {
			t.Error("an expression that cannot be compiled was used")
		}
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}
