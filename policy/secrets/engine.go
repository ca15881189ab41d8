package secrets

import (
	"errors"
	"fmt"
	"sync"
)

// A rule is one kind of secret: the literals it may show by and the check at
// the place where one stands.
type rule struct {
	id, about string
	context   bool     // the value alone does not show it: a name beside it does
	compact   bool     // one token and nothing around it: may be read in any order
	block     bool     // a block that says itself that it is a key: as certain as a checksum
	literals  []string // in their own case
	names     []string // in any case; written in lower case
	check     check

	// form is what a token of the literal looks like; nil if the rule is for
	// something else.
	form func(literal []byte) token
}

// An engine holds all rules, ready to match. It never changes.
type engine struct {
	rules   []*rule
	exact   finder
	byExact [][]*rule // rules of each literal
	named   finder
	byName  [][]*rule
	without viewKind // left out of every reading, to prove that tests notice
}

var builtIn = sync.OnceValue(func() *engine {
	e, err := compile(builtInRules())
	if err != nil {
		panic(fmt.Sprintf("the built-in secret rules do not compile: %v", err))
	}
	return e
})

func builtInRules() []*rule {
	var all []*rule
	for _, family := range [][]*rule{
		forgeRules(), cloudRules(), modelRules(), chatRules(), mailRules(), moneyRules(), serviceRules(),
		keyRules(), urlRules(), headerRules(), fileRules(), commandRules(), pairRules(), providerRules(),
	} {
		all = append(all, family...)
	}
	return all
}

// compile builds both finders at a time: the first secret that a program looks
// for waits for them.
func compile(rules []*rule) (*engine, error) {
	e := &engine{rules: rules}
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() { e.exact, e.byExact, errs[0] = index(rules, false) })
	both.Go(func() { e.named, e.byName, errs[1] = index(rules, true) })
	both.Wait()
	return e, errors.Join(errs[:]...)
}

// index builds the finder over all literals, or all names, of the rules.
func index(rules []*rule, names bool) (finder, [][]*rule, error) {
	var literals []string
	var owners [][]*rule
	known := map[string]int{}
	for _, r := range rules {
		own := r.literals
		if names {
			own = r.names
		}
		for _, l := range own {
			i, ok := known[l]
			if !ok {
				i = len(literals)
				known[l] = i
				literals, owners = append(literals, l), append(owners, nil)
			}
			owners[i] = append(owners[i], r)
		}
	}
	f, err := newAutomaton(literals, names)
	return f, owners, err
}

// match reports what the rules find in one view.
func (e *engine) match(v view, report func(view, *rule, match)) {
	e.exact.each(v.text, func(literal int, at span) {
		for _, r := range e.byExact[literal] {
			e.try(v, r, at, report)
		}
	})
	if v.kind.scrambled() {
		return
	}
	e.named.each(v.text, func(name int, at span) {
		for _, r := range e.byName[name] {
			e.try(v, r, at, report)
		}
	})
}

// isPlain reports letters of one case without a digit.
func isPlain(b []byte) bool {
	return digits.count(b) == 0 && (lower.count(b) == 0 || upper.count(b) == 0)
}

func (e *engine) try(v view, r *rule, at span, report func(view, *rule, match)) {
	if r.context && v.kind.scrambled() || !r.compact && v.kind.turned() {
		return
	}
	m, ok := r.check(v.text, at)
	if !ok && v.kind == asJoined && r.form != nil {
		m, ok = r.form(at.in(v.text)).checkAtSeams(v, at)
	}
	if !ok || isDocumented(m.in(v.text)) {
		return
	}
	if v.kind.scrambled() && (!m.certain && isPlain(m.in(v.text)) || beginsDocumented(m.in(v.text))) {
		return // a table of names put together, or an example and what follows it
	}
	report(v, r, m)
}
