package chronicle

import (
	"encoding/json"
	"fmt"
	"time"

	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// whatMore is what the event is called that counts those that were not written.
const whatMore = "more"

// maxIDs bounds the ids and rules in one event; the log has more of them.
const maxIDs = 20

// A detail is what an event says, as JSON. Its members are those of an
// audit.Record, without address, commit and reason.
type detail struct {
	Person  string         `json:"person,omitempty"`
	Device  event.DeviceID `json:"device,omitempty"`
	Action  string         `json:"action"`
	Space   string         `json:"space,omitempty"`
	Ref     string         `json:"ref,omitempty"`
	Target  string         `json:"target,omitempty"`
	Verdict string         `json:"verdict,omitempty"`
	Rules   []string       `json:"rules,omitempty"`
	OnTrial []string       `json:"on_trial,omitempty"`
	Count   int            `json:"count,omitempty"`
	Events  []event.ID     `json:"events,omitempty"`
	Policy  int            `json:"policy,omitempty"`
	Rule    string         `json:"rule,omitempty"` // of those that were not written
	Hour    *event.Time    `json:"hour,omitempty"` // in which they were
	// Unnamed says that something in the record looks like a secret, so it says
	// only what was decided.
	Unnamed bool `json:"unnamed,omitempty"`
}

func detailOf(x entry) detail {
	if x.more != nil {
		hour := event.NewTime(x.hour)
		return detail{Person: x.more.Person, Action: whatMore, Rule: x.more.Rule, Count: x.more.Count, Hour: &hour}
	}
	r := x.Record
	return detail{
		Person: r.Person, Device: r.Device, Action: r.Action, Space: r.Space, Ref: r.Ref, Target: r.Target,
		Verdict: r.Verdict, Rules: few(r.Rules), OnTrial: few(r.OnTrial), Count: r.Count, Events: few(r.Events), Policy: r.Policy,
	}
}

func few[T any](list []T) []T { return list[:min(len(list), maxIDs)] }

// key is what an entry is known by, in the space and in the log.
func (x entry) key() string {
	if x.more != nil {
		return fmt.Sprintf("hub-audit:more:%s:%s:%s", x.hour.Format("2006-01-02T15"), x.more.Person, x.more.Rule)
	}
	return "hub-audit:" + x.End.String()
}

// at is the moment of an entry: of what was not written, the end of its hour.
func (x entry) at() time.Time {
	if x.more != nil {
		return x.hour.Add(time.Hour - time.Millisecond)
	}
	return x.At.Time
}

// event is the signed event of an entry, for the space of that id.
func (c *Chronicle) event(space event.ID, x entry) (event.Event, error) {
	d := detailOf(x)
	e, err := c.unsigned(space, x, d)
	if err != nil {
		return event.Event{}, err
	}
	policy, ok := c.Judge(e)
	if !ok {
		if e, err = c.unsigned(space, x, detail{Action: d.Action, Verdict: d.Verdict, Count: d.Count, Unnamed: true}); err != nil {
			return event.Event{}, err
		}
	}
	e.Policy = policy
	return c.Key.Sign(e)
}

func (c *Chronicle) unsigned(space event.ID, x entry, d detail) (event.Event, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return event.Event{}, fmt.Errorf("encode an audit event: %w", err)
	}
	p := &event.Audit{What: d.Action, Detail: string(text), Target: target(d)}
	id := event.DerivedID(x.at(), string(space)+" "+x.key())
	return event.Event{
		Schema: event.Schema, ID: id, Kind: p.Kind(), Space: hubwire.Audit, Ref: event.MainRef,
		Observed: event.NewTime(x.at()), Actor: event.Actor{Kind: event.ActorSystem, ID: "cairn-hub", Device: c.Key.ID()},
		Subject: p.Subject(), Layer: p.Kind().Layer(), Authority: event.Authority{Source: "system"},
		Classification: event.Public, Tags: []string{}, Key: "hub-audit:" + string(id), Payload: p,
	}, nil
}

func target(d detail) string {
	if len(d.Events) > 0 {
		return string(d.Events[0])
	}
	return ""
}
