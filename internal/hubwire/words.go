package hubwire

import "cairn/internal/event"

// The commands beside git's own.
const (
	CmdWhoami = "whoami"
	CmdSpaces = "spaces"
	CmdWatch  = "watch"
	CmdEnrol  = "enrol"
	CmdRenew  = "renew"
	CmdPolicy = "policy"
	CmdRoster = "roster"
)

// Personal is the name under which each person reaches the one space that
// only their own devices share.
const Personal = "personal"

// Audit is the shared space to which the hub alone writes, with its host key:
// what it decided. Its admins read it, and nobody else.
const Audit = "audit"

// RuleAudit is the rule of whoever else writes to that space.
const RuleAudit = "audit-space"

// Whoami is who the hub takes the caller for.
type Whoami struct {
	Hub         event.ID          `json:"hub_id"`
	Person      string            `json:"person"`
	Device      event.DeviceID    `json:"device"`
	Name        string            `json:"name"`        // of the device, for people
	Fingerprint string            `json:"fingerprint"` // of the key, as ssh prints it
	Admin       bool              `json:"admin"`
	Rights      map[string]string `json:"rights"` // space to role: read, write or admin
	Time        event.Time        `json:"time"`   // by the hub's clock
}

// SpaceInfo is one space the caller may read.
type SpaceInfo struct {
	Name     string   `json:"name"`
	ID       event.ID `json:"id"`
	Role     string   `json:"role"`     // read, write or admin
	Personal bool     `json:"personal"` // shared by the caller's own devices only
}

// A Line is one line that watch writes. The first is a hello; after it each
// line is a change, a ping or, as the last one, a resync.
type Line struct {
	// Hello holds the value of every ref of every watched space at the
	// moment from which changes are told: space, then ref, then commit.
	Hello map[string]map[string]string `json:"hello,omitempty"`

	Seq   uint64 `json:"seq,omitempty"` // counts up by one for each change at this hub
	Space string `json:"space,omitempty"`
	Ref   string `json:"ref,omitempty"`
	New   string `json:"new,omitempty"` // commit the ref points at now

	// Policy is the mark of the policy in force, Roster the number of the list of
	// devices: with the hello, and as a line of their own when one changed.
	Policy string `json:"policy,omitempty"`
	Roster int64  `json:"roster,omitempty"`

	Ping   bool `json:"ping,omitempty"`   // nothing happened, the line is alive
	Resync bool `json:"resync,omitempty"` // changes were left out: ask anew for the heads
}
