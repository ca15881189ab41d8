package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cairn/internal/event"
)

// Limits are the sizes that a policy allows; 0 where it names none and only
// the built-in limit holds.
type Limits struct {
	Event    int64 // bytes of an event's file
	Push     int64 // bytes of a push on the wire
	Inflated int64 // bytes of all objects of a push
	Objects  int64 // of a push
}

// Signatures says what becomes of an event without one.
type Signatures string

// What a policy may ask of signatures, from the weakest.
const (
	SignaturesOff      Signatures = "off"
	SignaturesWarn     Signatures = "warn"
	SignaturesRequired Signatures = "required"
)

var signatureLadder = []Signatures{SignaturesOff, SignaturesWarn, SignaturesRequired}

// Terms are what holds for events, in the whole team or in one space.
type Terms struct {
	Limits        Limits
	WritesPerHour int          // of one device; 0 for no limit
	Kinds         []event.Kind // that may be written; none for all
	Harnesses     []string     // AI tools that may write, in lower case; none for all
	Classes       []event.Classification
	Signatures    Signatures
	Retention     []Retention
	lines         map[string]int // where in the file each of them comes from
}

var termKeys = []string{"limits", "writes_per_hour", "kinds", "harnesses", "signatures", "retention"}

// A limit is one key of the limits: what it is called, the least and the most
// it can say, and where it is kept.
type limit struct {
	key         string
	least, most int64
	count       bool // it is a number, not a size
	in          func(*Limits) *int64
}

var limitRows = []limit{
	{"event", 1 << 10, event.MaxFile, false, func(l *Limits) *int64 { return &l.Event }},
	{"push", 64 << 10, 4 << 30, false, func(l *Limits) *int64 { return &l.Push }},
	{"inflated", 64 << 10, 64 << 30, false, func(l *Limits) *int64 { return &l.Inflated }},
	{"objects", 100, 8_000_000, true, func(l *Limits) *int64 { return &l.Objects }},
}

func (l limit) parse(text string) (n int64, err error) {
	if l.count {
		v, err := wholeNumber(int(l.least), int(l.most))(text)
		return int64(v), err
	}
	n, err = parseSize(text)
	switch {
	case err != nil:
		return 0, err
	case n > l.most:
		return 0, fmt.Errorf("is more than cairn itself allows (%s)", size(l.most))
	case n < l.least:
		return 0, fmt.Errorf("is too little to work with; %s are the least", size(l.least))
	}
	return n, nil
}

func (l limit) show(n int64) string {
	if l.count {
		return fmt.Sprint(n)
	}
	return size(n)
}

// terms reads the keys that both the team and a space may have. What a space
// says must be as strict as what the team says, or stricter.
func (s section) terms(team *Terms) Terms {
	t := Terms{Signatures: SignaturesOff, lines: map[string]int{}}
	if team != nil {
		t = *team
		t.lines = map[string]int{}
		for k, line := range team.lines {
			t.lines[k] = line
		}
	}
	s.limits(&t)
	s.writes(&t)
	s.kinds(&t)
	s.harnesses(&t)
	s.signatures(&t)
	if s.value["retention"] != nil {
		t.Retention = s.retention(t.Retention)
	}
	return t
}

// tighten notes where a term comes from, and says of a looser one that it is.
func (s section) tighten(t *Terms, key string, n *yaml.Node, looser string) {
	if looser != "" {
		s.at(n, s.where, "%s: %s (line %d)", key, looser, t.lines[key])
	}
	t.lines[key] = n.Line
}

func (s section) limits(t *Terms) {
	n := s.value["limits"]
	if n == nil {
		return
	}
	var keys []string
	for _, l := range limitRows {
		keys = append(keys, l.key)
	}
	inner, ok := s.section(s.in("limits"), n, keys...)
	if !ok {
		return
	}
	for _, l := range limitRows {
		v := read(inner, l.key, "a size", l.parse)
		if v == 0 {
			continue
		}
		have, looser := l.in(&t.Limits), ""
		if *have > 0 && v > *have {
			looser = fmt.Sprintf("%s is more than the team's %s", l.show(v), l.show(*have))
		}
		inner.tighten(t, l.key, inner.value[l.key], looser)
		*have = v
	}
}

const maxWrites = 100_000

func (s section) writes(t *Terms) {
	v := read(s, "writes_per_hour", "a number", wholeNumber(1, maxWrites))
	if v == 0 {
		return
	}
	looser := ""
	if t.WritesPerHour > 0 && v > t.WritesPerHour {
		looser = fmt.Sprintf("%d is more than the team's %d", v, t.WritesPerHour)
	}
	s.tighten(t, "writes_per_hour", s.value["writes_per_hour"], looser)
	t.WritesPerHour = v
}

// isKind judges the name of a kind of event.
func isKind(text string) error {
	if event.NewPayload(event.Kind(text)) != nil {
		return nil
	}
	var known []string
	for _, k := range event.Kinds() {
		known = append(known, string(k))
	}
	if near := nearest(strings.ReplaceAll(text, "-", "_"), known); near != "" {
		return errors.New(`is no kind of event; did you mean "` + near + `"?`)
	}
	return errors.New("is no kind of event" + meant(text, "kinds", known))
}

func (s section) kinds(t *Terms) {
	if s.value["kinds"] == nil {
		return
	}
	var list []event.Kind
	for _, k := range s.words("kinds", "kinds of event", isKind) {
		list = append(list, event.Kind(k))
	}
	s.tighten(t, "kinds", s.value["kinds"], outside("kind", list, t.Kinds))
	t.Kinds = list
}

// outside says which of a space's values are not among the team's.
func outside[T ~string](what string, list, team []T) string {
	var more []string
	for _, v := range list {
		if len(team) > 0 && !slices.Contains(team, v) {
			more = append(more, string(v))
		}
	}
	if len(more) == 0 {
		return ""
	}
	if len(more) > 1 {
		what += "s"
	}
	return fmt.Sprintf("the team does not allow the %s %s", what, and(more))
}

const maxHarness = 64

func (s section) harnesses(t *Terms) {
	if s.value["harnesses"] == nil {
		return
	}
	list := s.words("harnesses", "AI tools", func(text string) error {
		if len(text) > maxHarness || text != strings.ToLower(text) || strings.TrimSpace(text) != text {
			return fmt.Errorf("is no name of a tool: use lower case, %d bytes at most", maxHarness)
		}
		return nil
	})
	looser := ""
	if len(outside("", list, t.Harnesses)) > 0 {
		looser = "the team does not allow every one of these tools"
	}
	s.tighten(t, "harnesses", s.value["harnesses"], looser)
	t.Harnesses = list
}

func (s section) signatures(t *Terms) {
	n := s.value["signatures"]
	if n == nil {
		return
	}
	v := read(s, "signatures", "required, warn or off", func(text string) (Signatures, error) {
		if !slices.Contains(signatureLadder, Signatures(text)) {
			return "", errors.New("is none of required, warn and off")
		}
		return Signatures(text), nil
	})
	if v == "" {
		return
	}
	looser := ""
	if slices.Index(signatureLadder, v) < slices.Index(signatureLadder, t.Signatures) {
		looser = fmt.Sprintf("%s is weaker than the team's %s", v, t.Signatures)
	}
	s.tighten(t, "signatures", n, looser)
	t.Signatures = v
}
