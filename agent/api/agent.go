package api

import (
	"context"

	"cairn/internal/event"
)

// An Agent answers for one home. Errors are *problem.Problem or wrap one.
// Implementations are safe for concurrent use.
type Agent interface {
	// Remember saves one event. When it returns without an error the event is
	// durable.
	Remember(context.Context, Draft) (Receipt, error)
	// Import saves many events in order. One that is refused does not stop
	// the others; each result stands at the place of its draft.
	Import(context.Context, []Draft) ([]ImportResult, error)
	// Ask searches. No text is an error; at worst nothing is found.
	Ask(context.Context, Query) (Answer, error)
	// Log lists newest first; the query's text is not used.
	Log(context.Context, Query) (Answer, error)
	// Show is one event. ref is an id, or six or more characters of its start
	// or end, with or without a tilde in front.
	Show(ctx context.Context, ref string, history bool) (Shown, error)
	// Export calls fn with the stored bytes of every event of the space, all
	// spaces when empty, in the order of their ids.
	Export(ctx context.Context, space string, fn func([]byte) error) error
	// Digest is the list of pointers that a tool loads at its start, at most
	// max bytes, whole lines; empty when nothing is stored.
	Digest(ctx context.Context, max int) (string, error)

	Status(context.Context) (Status, error)
	Doctor(ctx context.Context, deep bool) (Report, error)
	// Embed gives every note its vector of the embedder that is set, where it
	// has none. What it has done when the context ends stays done.
	Embed(context.Context) (Embedded, error)
	// Refused lists events that a gate refused; Dismiss takes one off the list.
	Refused(context.Context) ([]Refusal, error)
	Dismiss(ctx context.Context, ref string) error

	// CreateSpace makes a local space; a space that is there is no error.
	CreateSpace(ctx context.Context, name string) error
	// Join enrols this machine at the hub of an invite and pulls its spaces.
	Join(ctx context.Context, invite string) (Joined, error)
	// Sync exchanges events with the remotes now.
	Sync(context.Context, SyncRequest) ([]SyncResult, error)
	Remotes(context.Context) ([]Remote, error)
	AddRemote(context.Context, Remote) error
	RemoveRemote(ctx context.Context, space, name string) error
}

// A Query is a search or the filters of a list.
type Query struct {
	Text   string `json:"text,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 0 is the command's default
	Filter Filter `json:"filter"`
	All    bool   `json:"all,omitempty"` // also superseded, archived, expired and redacted ones
	Prefix bool   `json:"prefix,omitempty"`
}

// A Filter narrows a query; empty members do not. Upper and lower case are the
// same, but for Space and Subject, which name one thing. The start of its id
// will do for a Device, if it is event.MinDeviceStart characters or more.
type Filter struct {
	Space   string      `json:"space,omitempty"`
	Kind    event.Kind  `json:"kind,omitempty"`
	Subject string      `json:"subject,omitempty"` // for example a preference's category/key
	Tags    []string    `json:"tags,omitempty"`    // all of them
	Harness string      `json:"harness,omitempty"`
	Device  string      `json:"device,omitempty"`
	Actor   string      `json:"actor,omitempty"`
	Project string      `json:"project,omitempty"`
	Since   *event.Time `json:"since,omitempty"` // recorded at or after
	Until   *event.Time `json:"until,omitempty"` // recorded before
}

// An Answer is a ranked or dated list.
type Answer struct {
	Query   string `json:"query"`
	TookUS  int64  `json:"took_us"` // microseconds
	Total   int    `json:"total"`   // matches before the limit
	Hits    []Hit  `json:"hits"`
	Note    string `json:"note,omitempty"`    // anything to know about the answer as a whole
	Partial bool   `json:"partial,omitempty"` // notes may be missing that could not be looked at in time, or not be read: Note says why
}

// A Hit is one event in a list.
type Hit struct {
	ID           event.ID   `json:"id"`
	Space        string     `json:"space"`
	Kind         event.Kind `json:"kind"`
	Title        string     `json:"title"`
	Text         string     `json:"text"`
	Snippet      string     `json:"snippet"`
	Tags         []string   `json:"tags"`
	Score        float64    `json:"score"`
	Recorded     event.Time `json:"recorded"` // from the id
	Observed     event.Time `json:"observed"`
	Harness      string     `json:"harness"`
	Device       string     `json:"device"`
	Actor        string     `json:"actor"`
	Project      string     `json:"project"`
	State        State      `json:"state"`
	SupersededBy event.ID   `json:"superseded_by,omitempty"`
	Verdict      string     `json:"verdict,omitempty"` // of the newest verification, if any
	Newer        bool       `json:"newer,omitempty"`   // written by a newer cairn; shown, not understood
}

// State is what an event counts for now.
type State string

// The states.
const (
	Live       State = "live"
	Superseded State = "superseded"
	Archived   State = "archived"
	Redacted   State = "redacted"
	Expired    State = "expired"
	Held       State = "held" // of a clock that runs ahead: it shows when its time has come
)

// Shown is one event in full.
type Shown struct {
	Raw       []byte `json:"raw"` // the stored file
	Hit       Hit    `json:"hit"`
	Commit    string `json:"commit"`
	State     State  `json:"state"`
	Signature string `json:"signature"` // good, none or bad
	Device    string `json:"device"`
	History   []Hit  `json:"history,omitempty"` // the chain, oldest first
}
