package secrets

import "cmp"

// TooComplex is the rule of a finding that says a text could not be read to
// its end: it unpacks to more than the scanner will look at. Refuse it.
const TooComplex = "too-complex"

// A Finding says where a secret lies in a text, never what it is.
type Finding struct {
	Rule string
	// Start and End are byte offsets in the text that was given. For a secret
	// that shows only in a derived reading they are the best known range.
	Start, End int
	// Certain is set when a checksum of the issuer fits, and for blocks that
	// say themselves that they are a private key.
	Certain bool
	// Fingerprint names the value under the team's key; see Excusing.
	Fingerprint string
}

func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Rule, b.Rule))
}

// A Scanner finds secrets in text. It is safe for concurrent use.
type Scanner struct {
	engine *engine
	own    *Patterns
	key    []byte
	excuse Excuse
}

// New returns a scanner with the built-in rules. They are compiled once in
// the life of the process; after that New costs nothing.
func New() *Scanner { return &Scanner{engine: builtIn()} }

// Only returns a scanner that looks for the patterns and nothing else, to try
// them.
func Only(own *Patterns) *Scanner {
	return &Scanner{engine: &engine{exact: nothing{}, named: nothing{}}, own: own}
}

// With returns a scanner that looks for the patterns as well, in all views but
// those of a text turned around.
func (s *Scanner) With(own *Patterns) *Scanner {
	with := *s
	with.own = own
	return &with
}

// Scan returns all secrets in text, in the order of their places; none means
// that the text is clean. The text may be anything, also binary.
func (s *Scanner) Scan(text []byte) []Finding { return s.read(text) }

// A RuleInfo describes a rule for people.
type RuleInfo struct {
	ID    string
	About string
	// SelfIdentifying rules know a secret by its own form wherever it stands;
	// the others need a name beside it.
	SelfIdentifying bool
}

// Rules lists the built-in rules.
func Rules() []RuleInfo {
	var infos []RuleInfo
	for _, r := range builtIn().rules {
		infos = append(infos, RuleInfo{ID: r.id, About: r.about, SelfIdentifying: !r.context})
	}
	return infos
}
