package commitform

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cairn/internal/event"
)

// A Hash is the id of a git object in its binary form.
type Hash = [20]byte

// MergeIdent is the author and committer of a merge, RootIdent of a root.
// Names under .invalid never exist (RFC 2606).
const (
	MergeIdent = "cairn <merge@cairn.invalid>"
	RootIdent  = "cairn <root@cairn.invalid>"
)

// An EventHead is what an event commit says about its event.
type EventHead struct {
	Schema int
	Kind   event.Kind
	ID     event.ID
	Device event.DeviceID
}

// HeadOf takes from e what its commit repeats.
func HeadOf(e event.Event) EventHead {
	return EventHead{Schema: e.Schema, Kind: e.Kind, ID: e.ID, Device: e.Actor.Device}
}

// HeadIn takes the same from the file of an event, of whatever schema. The
// error holds nothing of the file.
func HeadIn(file []byte) (EventHead, error) {
	var e struct {
		Schema int         `json:"schema"`
		Kind   event.Kind  `json:"kind"`
		ID     event.ID    `json:"id"`
		Actor  event.Actor `json:"actor"`
	}
	if err := json.Unmarshal(file, &e); err != nil {
		return EventHead{}, errors.New("the file says no schema, kind, id and device")
	}
	return EventHead{Schema: e.Schema, Kind: e.Kind, ID: e.ID, Device: e.Actor.Device}, nil
}

// Event is the commit that adds the event h to the history that ends at
// parent. tree is the tree of parent plus the event's file.
func Event(tree, parent Hash, h EventHead) []byte {
	device := string(h.Device)
	ident := device + " <" + device + "@cairn.invalid>"
	message := fmt.Sprintf("%s: %s\n\nCairn-Schema: %d\n", h.Kind, h.ID, h.Schema)
	return commit(tree, []Hash{parent}, ident, h.ID.Time().Unix(), message)
}

// Merge is the commit that joins the histories ending at a and b. seconds is
// the greater of the two commits' times; the order of a and b does not matter.
func Merge(tree, a, b Hash, seconds int64) []byte {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return commit(tree, []Hash{a, b}, MergeIdent, seconds, "merge\n")
}

// Root is the first commit of the space with the given id. tree holds only
// the file SpaceFile.
func Root(tree Hash, space event.ID) []byte {
	return commit(tree, nil, RootIdent, space.Time().Unix(), "root: "+string(space)+"\n")
}

func commit(tree Hash, parents []Hash, ident string, seconds int64, message string) []byte {
	b := commitHead(tree, parents)
	stamp := ident + " " + strconv.FormatInt(seconds, 10) + " +0000\n"
	b.WriteString("author " + stamp + "committer " + stamp + "\n" + message)
	return b.Bytes()
}

func commitHead(tree Hash, parents []Hash) *bytes.Buffer {
	var b bytes.Buffer
	b.WriteString("tree " + hex.EncodeToString(tree[:]) + "\n")
	for _, p := range parents {
		b.WriteString("parent " + hex.EncodeToString(p[:]) + "\n")
	}
	return &b
}

// Path is where the event lies in the tree: a pure function of its id, by
// month, day and hour in UTC.
func Path(id event.ID) string {
	return id.Time().Format("events/2006-01/02/15/") + string(id) + ".json"
}

// IDAt is the id of the event that belongs at path; false when no event does.
func IDAt(path string) (event.ID, bool) {
	name, ok := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json")
	if !ok {
		return "", false
	}
	id, err := event.ParseID(name)
	if err != nil || Path(id) != path {
		return "", false
	}
	return id, true
}

// EventOf is the event that an event commit names in its first line, of
// whatever schema; false for a commit of another form.
func EventOf(commit []byte) (event.ID, bool) {
	_, message, ok := bytes.Cut(commit, []byte("\n\n"))
	if !ok {
		return "", false
	}
	subject, _, _ := bytes.Cut(message, []byte("\n"))
	kind, name, ok := bytes.Cut(subject, []byte(": "))
	if !ok || string(kind) == "root" {
		return "", false
	}
	id, err := event.ParseID(string(name))
	return id, err == nil
}
