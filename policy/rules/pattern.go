package rules

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"cairn/internal/lazyregexp"
	"cairn/policy/secrets"
)

// A Stage says what happens where a rule is broken.
type Stage string

// The stages.
const (
	Block  Stage = "block"  // the event is refused
	Report Stage = "report" // it is put on record, and passes
)

// A Pattern is a rule of the team's own about secrets.
type Pattern struct {
	secrets.Pattern
	Stage  Stage
	Until  time.Time // the end of the trial, from which on it blocks; zero for none
	Line   int
	column int
}

// Limits on patterns.
const (
	maxPatterns   = 200
	maxExpression = 512  // bytes
	maxSteps      = 1000 // of the program an expression becomes
	maxShapes     = 5
	maxUnlike     = 20
	maxEntropy    = 6.0 // bits a byte; printable text has hardly more
	samples       = 20  // made of each shape
)

// The rules that judge what the file says beside secrets. No pattern may have
// their names.
const (
	RuleSpace          = "unlisted-space"
	RuleRight          = "no-right"
	RuleKind           = "kind"
	RuleHarness        = "harness"
	RuleClassification = "classification"
	RuleEventSize      = "event-size"
	RuleSignature      = "signature"
)

// reserved are names of rules that the gate, the hub and machines have besides:
// each constant in the module whose name begins with Rule.
var reserved = []string{
	RuleSpace, RuleRight, RuleKind, RuleHarness, RuleClassification, RuleEventSize, RuleSignature, "size", "encoding", "policy",
	"commit-form", "foreign-history", "merge-form", "append-only", "path", "event-form", "space", "ref", "newer-schema", "unreachable",
	"object-form", "missing-object", "purged", "conflicting-path", "unknown-device", "revoked-device", "revoked", "clone", "clock", "limit",
	"writes-per-hour", "stale", "audit-space", "stranger", "unjudged", "newly-refused",
}

var ruleID = lazyregexp.New(`^[a-z][a-z0-9-]{2,47}$`)

// patterns reads secrets.patterns.
func (f *File) patterns(s section) {
	items := s.items("patterns", "patterns")
	if len(items) > maxPatterns {
		s.at(items[maxPatterns], s.in("patterns"), "there are %d, %d are allowed", len(items), maxPatterns)
		items = items[:maxPatterns]
	}
	taken := map[string]int{}
	for _, n := range items {
		p, ok := s.pattern(n, taken)
		if ok {
			f.Patterns = append(f.Patterns, p)
		}
	}
}

// pattern reads one. It is false if the pattern cannot be used; the finding is
// made.
func (c *checker) pattern(n *yaml.Node, taken map[string]int) (Pattern, bool) {
	before := len(c.found)
	s, ok := c.section(c.named("pattern", n, "id"), n, "id", "match", "contains", "entropy", "like", "unlike", "stage", "until")
	if !ok {
		return Pattern{}, false
	}
	s.need("id", "match", "like")
	p := Pattern{Line: n.Line, column: n.Column, Stage: Block}
	p.ID = read(s, "id", "the name of the rule", func(text string) (string, error) { return text, newRule(text, taken) })
	if p.ID != "" && s.value["id"] != nil {
		taken[p.ID] = s.value["id"].Line
	}
	p.Entropy = read(s, "entropy", "a number of bits", parseEntropy)
	s.stage(&p)
	if s.expression(&p); p.Match == nil || len(c.found) > before {
		return p, false
	}
	s.prove(p)
	return p, len(c.found) == before
}

// named is a part of the file by the name it gives itself, if that is a name.
func (c *checker) named(what string, n *yaml.Node, key string) string {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if v := n.Content[i+1]; n.Content[i].Value == key && ruleID().MatchString(v.Value) && c.quote(v) != unnamed {
			return what + " " + v.Value
		}
	}
	return what
}

func newRule(id string, taken map[string]int) error {
	switch {
	case !ruleID().MatchString(id):
		return errors.New("is no name of a rule: use lower-case letters, digits and dashes, 3 to 48")
	case taken[id] > 0:
		return fmt.Errorf("is used at line %d already", taken[id])
	case slices.Contains(builtIn(), id) || id == secrets.TooComplex || slices.Contains(reserved, id):
		return errors.New("is a built-in rule: choose another name")
	}
	return nil
}

// builtIn lists the ids of the built-in rules about secrets.
var builtIn = sync.OnceValue(func() []string {
	var ids []string
	for _, r := range secrets.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
})

func parseEntropy(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= maxEntropy) {
		return 0, fmt.Errorf("must be a number of bits up to %g", maxEntropy)
	}
	return v, nil
}

// stage reads whether a pattern is on trial, and how long.
func (s section) stage(p *Pattern) {
	if s.value["stage"] != nil {
		p.Stage = read(s, "stage", "report or block", func(text string) (Stage, error) {
			if text != string(Block) && text != string(Report) {
				return Block, errors.New("is no stage; write report or block")
			}
			return Stage(text), nil
		})
	}
	p.Until = read(s, "until", "a day", parseDay)
	switch {
	case p.Stage == Report && s.value["until"] == nil:
		s.at(s.node, s.where, "a stage of report needs until: the day it ends and the pattern blocks")
	case p.Stage == Block && s.value["until"] != nil:
		s.at(s.keys["until"], s.where, "until is for a stage of report")
	}
}

// expression reads what a pattern matches.
func (s section) expression(p *Pattern) {
	if s.value["match"] == nil {
		return
	}
	re := s.parsed("match", s.value["match"])
	if re == nil {
		return
	}
	form := shapeOf(re)
	prog, errProg := syntax.Compile(re.Simplify())
	match, err := regexp.Compile(s.value["match"].Value)
	if err != nil || errProg != nil {
		s.at(s.value["match"], s.where, "is too large for an expression")
		return
	}
	if fault := faultOf(match, len(prog.Inst), form); fault != "" {
		s.at(s.value["match"], s.where, "%s", fault)
		return
	}
	p.Match, p.Steps, p.Literals = match, len(prog.Inst), form.literals
	if form.longest != open {
		p.Longest = form.longest
	}
	s.contains(p)
}

// faultOf is what makes an expression useless or dear.
func faultOf(match *regexp.Regexp, steps int, form shape) string {
	var faults []string
	if match.MatchString("") {
		faults = append(faults, "matches the empty string")
	}
	if shortest(form.literals) < minLiteral {
		faults = append(faults, fmt.Sprintf("no literal of %d bytes that every match has", minLiteral))
	}
	if form.anchored {
		faults = append(faults, `asks for the beginning or end of a text or line, and a secret may stand anywhere; write \b`)
	}
	if steps > maxSteps {
		faults = append(faults, fmt.Sprintf("takes more than %d steps: use smaller counts", maxSteps))
	}
	return strings.Join(faults, "; ")
}

// contains reads a literal to look for instead of those found, which must be
// in every match as well.
func (s section) contains(p *Pattern) {
	n := s.value["contains"]
	if n == nil {
		return
	}
	text, ok := s.scalar(n, s.in("contains"), "a literal")
	switch {
	case !ok:
	case len(text) < minLiteral:
		s.at(n, s.in("contains"), "it has %d bytes, %d are the least", len(text), minLiteral)
	case !slices.ContainsFunc(p.Literals, func(l string) bool { return !strings.Contains(l, text) }):
		p.Literals = []string{text}
	default:
		s.at(n, s.in("contains"), "a match need not hold it")
	}
}

// parsed is the syntax tree of an expression, nil if it is none.
func (s section) parsed(key string, n *yaml.Node) *syntax.Regexp {
	text, ok := s.scalar(n, s.in(key), "an expression")
	if !ok {
		return nil
	}
	if len(text) > maxExpression {
		s.at(n, s.where, "the expression has %d bytes, %d are allowed", len(text), maxExpression)
		return nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	wrong, known := errors.AsType[*syntax.Error](err)
	cut := ""
	if m := openCount().FindStringSubmatch(text); m != nil {
		cut = m[1]
	}
	switch {
	case err == nil && cut == "":
		return re
	case err == nil:
		wrong = &syntax.Error{Code: "missing closing brace", Expr: cut}
	case !known:
		s.at(n, s.where, "%s: this is no expression", key)
		return nil
	}
	message := string(wrong.Code)
	if part := s.quote(&yaml.Node{Line: n.Line, Value: wrong.Expr}); part != unnamed && len(wrong.Expr) < 16 {
		message += " in " + wrong.Expr
	}
	s.at(n, s.where, "%s: %s", key, message)
	return nil
}

// openCount finds a count whose brace is not closed, which expressions take
// for a text.
var openCount = lazyregexp.New(`[^\\](\{\d+(?:,\d*)?)$`)

// prove tries a pattern on what it should find and what it should not.
func (s section) prove(p Pattern) {
	alone, err := secrets.NewPatterns(p.Pattern)
	if err != nil {
		s.at(s.value["match"], s.where, "cannot be looked for")
		return
	}
	scanner := secrets.Only(alone)
	finds := func(text string) bool {
		return slices.ContainsFunc(scanner.Scan([]byte(text)), func(f secrets.Finding) bool { return f.Rule == p.ID })
	}
	for _, n := range s.examples("like", maxShapes) {
		if re := s.parsed("like", n); re != nil {
			s.like(n, re, finds)
		}
	}
	for _, n := range s.examples("unlike", maxUnlike) {
		if text, ok := s.scalar(n, s.in("unlike"), "a text"); ok && finds(text) {
			s.at(n, s.where, "unlike: the pattern finds this")
		}
	}
	for line := range strings.Lines(ordinary) {
		if finds(line) {
			s.at(s.value["match"], s.where, "finds what is no secret, in ordinary text such as: %s", strings.TrimSpace(line))
			return
		}
	}
}

// examples are the texts under a key: one, or a list.
func (s section) examples(key string, most int) []*yaml.Node {
	n := s.value[key]
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	items := s.items(key, "texts")
	if len(items) > most {
		s.at(items[most], s.in(key), "there are %d, %d are allowed", len(items), most)
		return items[:most]
	}
	return items
}

// like makes texts of a shape, the same ones each time, and tries them.
func (s section) like(n *yaml.Node, re *syntax.Regexp, finds func(string) bool) {
	r := rand.New(rand.NewPCG(1, 2))
	for range samples {
		text, ok := sample(re, r)
		if !ok {
			s.at(n, s.where, "like: too large a shape: use smaller counts, and fewer of them in each other")
			return
		}
		if !finds("see " + text + " there") {
			s.at(n, s.where, "like: not every text of this shape is found; the pattern or its entropy asks for more")
			return
		}
	}
}
