package hubwire

import "strconv"

// RosterCap is the capability in a hub's adverts that names its list of devices:
// "cairn-roster=<number>".
const RosterCap = "cairn-roster"

// A RosterAnswer is the list, in the form of package roster.
type RosterAnswer struct {
	Key    []byte `json:"key"` // the hub's public key
	Roster []byte `json:"roster"`
}

// A Told is what a hub's advert says beside git's.
type Told struct {
	Policy PolicyMark // zero if it says nothing of that
	Roster int64      // number of the list of devices; zero if it says nothing of that
}

// Caps is it as capabilities.
func (t Told) Caps() []string {
	return []string{PolicyCap + "=" + t.Policy.String(), RosterCap + "=" + strconv.FormatInt(t.Roster, 10)}
}

// ParseTold reads the values of the two capabilities; what has no proper form
// counts as not said.
func ParseTold(policy, roster string) Told {
	var t Told
	t.Policy, _ = ParsePolicyMark(policy)
	if n, err := strconv.ParseInt(roster, 10, 64); err == nil && n > 0 && strconv.FormatInt(n, 10) == roster {
		t.Roster = n
	}
	return t
}
