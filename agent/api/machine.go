package api

import (
	"cairn/internal/event"
	"cairn/internal/problem"
)

// Status is the state of one machine.
type Status struct {
	Home    string        `json:"home"`
	Agent   Process       `json:"agent"`
	Hub     string        `json:"hub,omitempty"` // address, when joined
	Device  string        `json:"device"`
	Spaces  []SpaceStatus `json:"spaces"`
	Refused int           `json:"refused"`
	Rebuild *Progress     `json:"rebuild,omitempty"` // of the search index, while one is under way
	Policy  *PolicyState  `json:"policy,omitempty"`  // of the hub's team, if it has written one
	Judging *Progress     `json:"judging,omitempty"` // of a look at what is there, after the rules have changed
	// Embedder is what gives notes their vectors, as it is set.
	Embedder  string    `json:"embedder,omitempty"`
	Embedding *Progress `json:"embedding,omitempty"` // of Embed, while one is under way
}

// PolicyState is the team's policy as this machine applies it.
type PolicyState struct {
	Number  int    `json:"number"`
	Team    string `json:"team,omitempty"`
	Hash    string `json:"sha256,omitempty"`  // of the file
	Problem string `json:"problem,omitempty"` // why what the hub shows is not taken
}

// Embedded is what Embed did.
type Embedded struct {
	Embedder string `json:"embedder"` // its name: another one when its vectors are others
	Notes    int    `json:"notes"`    // in the index
	Made     int    `json:"made"`     // vectors, now
	Unknown  int    `json:"unknown"`  // notes of whose words the embedder knows none
}

// Progress is how far something is that takes a while.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Process is the agent process of a home.
type Process struct {
	Running bool   `json:"running"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// SpaceStatus is the state of one space.
type SpaceStatus struct {
	Name      string      `json:"name"`
	Head      string      `json:"head"`              // commit id
	Events    int         `json:"events"`            // in the log
	Indexed   int         `json:"indexed"`           // of them covered by the index
	Damaged   int         `json:"damaged,omitempty"` // events besides, whose bytes cannot be read as they were
	Ahead     int         `json:"ahead"`             // events waiting to be pushed
	Behind    int         `json:"behind"`            // events known to wait at the remote
	Held      int         `json:"held"`              // events that wait for their time, because a clock runs ahead
	HeldUntil *event.Time `json:"held_until,omitempty"`
	Purged    int         `json:"purged,omitempty"` // events that an admin took out for good
	PurgedAt  *event.Time `json:"purged_at,omitempty"`
	LastSync  *event.Time `json:"last_sync"`
	LastError string      `json:"last_error"`
	Remote    string      `json:"remote"`
}

// A Report is the outcome of doctor.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// A Check is one question doctor asked.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // what to do, when not OK
}

// A Refusal is an event that a gate refused. It never holds the text.
type Refusal struct {
	ID    event.ID   `json:"id"` // of the event, or of the refusal itself when no event came to be
	At    event.Time `json:"at"`
	Space string     `json:"space"`
	Kind  event.Kind `json:"kind"`
	By    string     `json:"by"` // machine or hub
	Rule  string     `json:"rule"`
	Field string     `json:"field"`
	Hint  string     `json:"hint"`
	// Fingerprint is what the team's policy could excuse the value by; empty
	// without such a policy.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Joined is what an invite brought.
type Joined struct {
	Hub    string   `json:"hub"`
	Person string   `json:"person"`
	Device string   `json:"device"`
	Spaces []string `json:"spaces"`
}

// A Remote is where a space is synced to.
type Remote struct {
	Space string `json:"space"`
	Name  string `json:"name"`
	URL   string `json:"url"`
	Hub   bool   `json:"hub"` // a cairn hub, as against any git remote
}

// A SyncRequest asks for an exchange now.
type SyncRequest struct {
	Space     string    `json:"space,omitempty"`  // all when empty
	Remote    string    `json:"remote,omitempty"` // all when empty
	Direction Direction `json:"direction,omitempty"`
}

// Direction narrows a sync to one way.
type Direction string

// The directions; the zero value is both ways.
const (
	PushOnly Direction = "push"
	PullOnly Direction = "pull"
)

// A SyncResult is the outcome for one space and remote.
type SyncResult struct {
	Space   string           `json:"space"`
	Remote  string           `json:"remote"`
	Pushed  int              `json:"pushed"`
	Pulled  int              `json:"pulled"`
	Held    int              `json:"held,omitempty"` // events that the remote takes later, when their time has come
	Refused []Refusal        `json:"refused,omitempty"`
	Problem *problem.Problem `json:"problem,omitempty"`
}
