package desk

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy/versions"
)

// The states of a version.
const (
	Active  = "active"
	Past    = "past"
	Waiting = "waiting"
)

// An Entry is one version in a few words.
type Entry struct {
	Number    int        `json:"number"`
	State     string     `json:"state"`
	Hash      string     `json:"sha256"` // of the file
	Team      string     `json:"team"`
	Admins    []string   `json:"admins"`
	Approvals int        `json:"approvals"` // that the next version needs
	By        string     `json:"by"`
	At        event.Time `json:"at"`
	Approved  []Signer   `json:"approved"`
	Missing   int        `json:"missing,omitempty"`
	Restores  int        `json:"restores,omitempty"`
}

// A Signer is who approved, and with the key of which device.
type Signer struct {
	Person string         `json:"person"`
	Device event.DeviceID `json:"device"`
}

func entryOf(v versions.Version) Entry {
	e := Entry{
		Number: v.Number, Hash: v.Proposal.File.String(), Team: v.Team, Admins: v.Admins, Approvals: v.Approvals,
		By: v.By, At: v.At, Approved: []Signer{}, Restores: v.Restores,
	}
	for _, a := range v.Approved {
		e.Approved = append(e.Approved, Signer{a.Person, event.DeviceOf(a.Key)})
	}
	return e
}

func (e Entry) in(state string) Entry {
	e.State = state
	return e
}

// stateOf is how a version stands in an answer. One that has no seal waits.
func stateOf(a hubwire.PolicyAnswer, v versions.Version) string {
	switch {
	case len(v.Seal) == 0:
		return Waiting
	case v.Number == a.Newest.Number:
		return Active
	}
	return Past
}

func (e Entry) signers() string {
	var names []string
	for _, s := range e.Approved {
		names = append(names, s.Person)
	}
	return strings.Join(names, ", ")
}

// Shown is a version with its file.
type Shown struct {
	Entry
	Text  string               `json:"text"`
	Trial *hubwire.PolicyTrial `json:"trial,omitempty"` // of one that waits, for whoever may sign it
}

// ShownOf is the version in force as a machine keeps it, for when the hub cannot
// be asked.
func ShownOf(v versions.Version, file []byte) Shown {
	return Shown{Entry: entryOf(v).in(Active), Text: string(file)}
}

func (s Shown) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d (%s)\nsha256 %s\nby %s, %s\napproved by %s\n", s.Number, s.State, s.Hash, s.By, s.At.Format("2006-01-02 15:04 MST"), s.signers())
	if s.Missing > 0 {
		fmt.Fprintf(&b, "approvals missing: %d\n", s.Missing)
	}
	return b.String() + tried(s.Trial) + "\n" + s.Text
}

// Log is every version, newest first, with what waits before them.
type Log struct {
	Versions []Entry `json:"versions"`
}

func logOf(a hubwire.PolicyAnswer, all []versions.Version) (Log, error) {
	l := Log{Versions: []Entry{}}
	for _, v := range all {
		l.Versions = append(l.Versions, entryOf(v).in(stateOf(a, v)))
	}
	if len(a.Waiting) > 0 {
		v, err := versions.Decode(a.Waiting)
		if err != nil {
			return Log{}, errAnswer("the proposal cannot be read", err)
		}
		e := entryOf(v).in(Waiting)
		e.Missing = a.Missing
		l.Versions = append(l.Versions, e)
	}
	slices.Reverse(l.Versions)
	return l, nil
}

func (l Log) String() string {
	if len(l.Versions) == 0 {
		return "The team has written no policy: the built-in rules are in force.\n"
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tSTATE\tAT\tBY\tAPPROVED\tFILE")
	for _, e := range l.Versions {
		state := e.State
		if e.Missing > 0 {
			state = fmt.Sprintf("%s, lacks %d", state, e.Missing)
		}
		if e.Restores > 0 {
			state = fmt.Sprintf("%s, as %d", state, e.Restores)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Number, state, e.At.Format("2006-01-02 15:04"), e.By, e.signers(), e.Hash[:12])
	}
	// A bytes.Buffer takes everything.
	_ = w.Flush()
	return b.String()
}

// Changed is what became of a proposal or an approval.
type Changed struct {
	Entry
	Already bool                 `json:"already,omitempty"` // it was in force before
	Trial   *hubwire.PolicyTrial `json:"trial,omitempty"`
}

func (c Changed) String() string {
	switch {
	case c.Already:
		return fmt.Sprintf("Policy version %d is in force already.\n", c.Number)
	case c.State == Active:
		return fmt.Sprintf("Policy version %d is in force. Machines take it with their next sync.\n", c.Number) + tried(c.Trial)
	}
	return fmt.Sprintf("Policy version %d is proposed and waits for %s. Another admin looks at it (cairn policy show %d) and runs:\ncairn policy approve %d\n",
		c.Number, approvals(c.Missing), c.Number, c.Number) + tried(c.Trial)
}

func approvals(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", n)
}

// Explained is every rule that was looked at, in order.
type Explained struct {
	Number int                  `json:"policy"` // of the version in force
	Steps  []hubwire.PolicyStep `json:"steps"`
}

func (e Explained) String() string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "By policy version %d:\nRULE\tLINE\tVERDICT\tWHY\n", e.Number)
	for _, s := range e.Steps {
		line := "-"
		if s.Line > 0 {
			line = strconv.Itoa(s.Line)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Rule, line, s.Verdict, cmp.Or(s.Detail, "-"))
	}
	// A bytes.Buffer takes everything.
	_ = w.Flush()
	return b.String()
}
