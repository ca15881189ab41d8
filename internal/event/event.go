package event

import (
	"encoding/json"
	"fmt"
	"time"
)

// Schema is the version of the event format that this package writes.
const Schema = 1

// Limits on one event. A text is counted before it is escaped.
const (
	MaxText = 1_000_000 // bytes of all text in the payload together
	MaxFile = 8 << 20   // bytes of the encoded event
)

// MainRef is the branch every event is appended to.
const MainRef = "refs/heads/main"

// An Event is one immutable record. The order of the fields is the order of
// the members in the stored file.
type Event struct {
	Schema         int            `json:"schema"`
	ID             ID             `json:"id"`
	Kind           Kind           `json:"kind"`
	Space          string         `json:"space"`
	Ref            string         `json:"ref"` // full name of the branch HEAD pointed at when it was appended
	Observed       Time           `json:"observed"`
	Actor          Actor          `json:"actor"`
	Subject        Subject        `json:"subject"`
	Parent         ID             `json:"parent,omitempty"`
	Chain          ID             `json:"chain,omitempty"`
	Layer          Layer          `json:"layer"`
	Authority      Authority      `json:"authority"`
	Classification Classification `json:"classification"`
	Project        string         `json:"project,omitempty"`
	Tags           []string       `json:"tags"`
	Key            string         `json:"key"` // idempotency key, unique among the live events of a space
	Policy         int            `json:"policy"`
	Payload        Payload        `json:"payload"`
	Sig            *Signature     `json:"sig,omitempty"`
}

// An Actor is who or what wrote an event, and on which device.
type Actor struct {
	Kind    ActorKind `json:"kind"`
	ID      string    `json:"id"`
	Harness string    `json:"harness,omitempty"` // the AI tool, for example claude-code
	Device  DeviceID  `json:"device"`
}

// A Subject is what an event is about. It follows from the payload.
type Subject struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// Authority is on whose word an event rests.
type Authority struct {
	Source     string   `json:"source"` // user, agent, import or system
	Score      *float64 `json:"score,omitempty"`
	AttestedBy string   `json:"attested_by,omitempty"`
}

// Time is a moment in UTC to the millisecond, written as RFC 3339 with
// exactly three decimals.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// NewTime cuts t to the millisecond, in UTC.
func NewTime(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON writes the one form a Time has.
func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.text())
}

func (t Time) text() string { return t.UTC().Format(timeLayout) }

// UnmarshalJSON accepts only what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.Parse(timeLayout, s)
	if err != nil {
		return fmt.Errorf("a time is written as %s", timeLayout)
	}
	t.Time = v
	return nil
}
