package api

import (
	"encoding/json"
	"fmt"

	"cairn/internal/event"
	"cairn/internal/problem"
)

// A Draft is an event as its writer gives it; the agent fills in the rest.
// Ids inside the payload, and Parent and Chain, may be given in short.
type Draft struct {
	Space          string               `json:"space,omitempty"` // default personal
	Payload        event.Payload        `json:"-"`
	Actor          event.Actor          `json:"actor"` // without the device
	Parent         event.ID             `json:"parent,omitempty"`
	Chain          event.ID             `json:"chain,omitempty"`
	Layer          event.Layer          `json:"layer,omitempty"`          // default by kind
	Authority      *event.Authority     `json:"authority,omitempty"`      // default by actor
	Classification event.Classification `json:"classification,omitempty"` // default by space
	Project        string               `json:"project,omitempty"`
	Tags           []string             `json:"tags,omitempty"`
	Key            string               `json:"key,omitempty"`
	Observed       *event.Time          `json:"observed,omitempty"` // of a historic item
	Historic       bool                 `json:"historic,omitempty"` // the id takes the time of Observed; undated items are spread backwards
	Stored         []byte               `json:"stored,omitempty"`   // a whole event as exported; nothing else counts then
}

// MarshalJSON adds the payload with its kind.
func (d Draft) MarshalJSON() ([]byte, error) {
	type plain Draft
	out := struct {
		plain
		Kind    event.Kind    `json:"kind,omitempty"`
		Payload event.Payload `json:"payload,omitempty"`
	}{plain: plain(d), Payload: d.Payload}
	if d.Payload != nil {
		out.Kind = d.Payload.Kind()
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Draft) UnmarshalJSON(b []byte) error {
	type plain Draft
	var in struct {
		plain
		Kind    event.Kind      `json:"kind"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*d = Draft(in.plain)
	if len(in.Payload) == 0 {
		return nil
	}
	p := event.NewPayload(in.Kind)
	if p == nil {
		return fmt.Errorf("no such kind of event: %q", in.Kind)
	}
	if err := json.Unmarshal(in.Payload, p); err != nil {
		return err
	}
	d.Payload = p
	return nil
}

// A Receipt says what became of a draft.
type Receipt struct {
	ID        event.ID   `json:"id"`
	Space     string     `json:"space"`
	Kind      event.Kind `json:"kind"`
	Commit    string     `json:"commit"`
	State     string     `json:"state"`     // one of those below
	Duplicate bool       `json:"duplicate"` // the event was there already; this is its first
}

// Receipt states.
const (
	Indexed   = "indexed"   // an Ask that begins now finds it
	Committed = "committed" // it is safe, and found once the index has caught up
)

// An ImportResult is what became of one draft of an import.
type ImportResult struct {
	Receipt Receipt          `json:"receipt"`
	Problem *problem.Problem `json:"problem,omitempty"`
}
