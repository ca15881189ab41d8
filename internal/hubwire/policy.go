package hubwire

import (
	"encoding/json"
	"strconv"
	"strings"

	"cairn/internal/event"
)

// The verbs of a PolicyRequest.
const (
	PolicySince   = "since"   // the versions after Number, oldest first
	PolicyShow    = "show"    // version Number, or the one that waits under that number; 0 is the newest
	PolicyPropose = "propose" // Version with its first approval, and File
	PolicyApprove = "approve" // Approval, of the version that waits under Number
	PolicyReturn  = "return"  // Version, sealed, and File: the hub has lost it
	PolicyExplain = "explain" // Words, an event or a device and a space

	// Propose and approve, but only if no event is newly refused that Accept does
	// not name. They are words of their own because a hub that does not know them
	// must not take the version.
	PolicyProposeStrictly = "propose-strictly"
	PolicyApproveStrictly = "approve-strictly"
)

// A PolicyRequest is what a machine asks about its hub's policy. The versions
// in it and in its answer are in the form of package versions.
type PolicyRequest struct {
	Verb     string          `json:"verb"`
	Number   int             `json:"number,omitempty"`
	Version  []byte          `json:"version,omitempty"`
	File     []byte          `json:"file,omitempty"`
	Approval json.RawMessage `json:"approval,omitempty"`
	Replace  bool            `json:"replace,omitempty"` // a proposal that waits
	Words    []string        `json:"words,omitempty"`
	Untested bool            `json:"untested,omitempty"` // do not try the file on what is there
	Accept   []string        `json:"accept,omitempty"`   // events that may be newly refused, each by its id or enough of it
}

// A PolicyStep is one rule that was looked at, and what came of it, as in
// package rules.
type PolicyStep struct {
	Rule    string `json:"rule"`
	Line    int    `json:"line,omitempty"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail,omitempty"`
}

// A PolicyAnswer is the answer. Newest is set in each.
type PolicyAnswer struct {
	Hub      event.ID   `json:"hub_id"`
	Key      []byte     `json:"key"`                // the hub's public key
	Newest   PolicyMark `json:"newest"`             // the version in force
	Versions [][]byte   `json:"versions,omitempty"` // what was asked for
	File     []byte     `json:"file,omitempty"`     // of the last of Versions; with since, only if that is the newest
	Prints   []byte     `json:"prints,omitempty"`   // the team's key for fingerprints, with since
	Waiting  []byte     `json:"waiting,omitempty"`  // the version that lacks approvals, if there is one
	Missing  int        `json:"missing,omitempty"`  // how many approvals it lacks

	Steps []PolicyStep `json:"steps,omitempty"` // of an explanation
	Trial *PolicyTrial `json:"trial,omitempty"` // of what was signed, or waits and was asked for by whoever may sign it
}

// A PolicyTrial is what a version changes about the events that a hub has. Lists
// hold the first of what is counted.
type PolicyTrial struct {
	Complete       bool           `json:"complete"` // everything was tried
	Events         int            `json:"events"`   // that were tried
	NewlyRefused   int            `json:"newly_refused"`
	NewlyAllowed   int            `json:"newly_allowed"`
	Spaces         []PolicyTried  `json:"spaces"` // in which something changes
	Rights         []PolicyChange `json:"rights"` // against the policy in force before
	MatchedNothing []PolicyIdle   `json:"matched_nothing"`
	Untried        []string       `json:"untried"`  // spaces that could not be read to their end
	Accepted       []event.ID     `json:"accepted"` // of what is newly refused, to be redacted
}

// A PolicyTried is what changes in one space. Refused and Allowed are empty where
// who asks may not read.
type PolicyTried struct {
	Space        string        `json:"space"`
	Events       int           `json:"events"`
	NewlyRefused int           `json:"newly_refused"`
	NewlyAllowed int           `json:"newly_allowed"`
	Refused      []PolicyBreak `json:"refused"`
	Allowed      []PolicyBreak `json:"allowed"`
}

// A PolicyBreak is a rule that an event breaks.
type PolicyBreak struct {
	ID    event.ID `json:"id"`
	Rule  string   `json:"rule"`
	Field string   `json:"field"`
}

// A PolicyChange is what a person gains, or loses, in a space.
type PolicyChange struct {
	Person string   `json:"person"`
	Space  string   `json:"space"`
	Gains  []string `json:"gains"`
	Loses  []string `json:"loses"`
}

// A PolicyIdle is a line of the file that has done nothing.
type PolicyIdle struct {
	What string `json:"what"`
	Line int    `json:"line"`
}

// A PolicyMark names a version: its number and hash. The number is 1, without a
// hash, for the built-in rules.
type PolicyMark struct {
	Number int    `json:"number"`
	Hash   string `json:"hash,omitempty"`
}

// BuiltIn is the mark of a hub whose team has written no policy.
var BuiltIn = PolicyMark{Number: 1}

// PolicyCap is the capability in a hub's adverts that says which version is in
// force there: "cairn-policy=<number>:<64 hex>", or "cairn-policy=1".
const PolicyCap = "cairn-policy"

// String is the value of the capability.
func (m PolicyMark) String() string {
	if m.Hash == "" {
		return strconv.Itoa(m.Number)
	}
	return strconv.Itoa(m.Number) + ":" + m.Hash
}

// ParsePolicyMark reads what String made; false for anything else.
func ParsePolicyMark(s string) (PolicyMark, bool) {
	number, hash, _ := strings.Cut(s, ":")
	n, err := strconv.Atoi(number)
	m := PolicyMark{Number: n, Hash: hash}
	if err != nil || m.String() != s || (n != BuiltIn.Number || hash != "") && (n <= BuiltIn.Number || !isSum(hash)) {
		return PolicyMark{}, false
	}
	return m, true
}

func isSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
