package roster_test

import (
	"bytes"
	"testing"

	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/roster"
)

var (
	hubID = event.ID("01kk0000000000000000000000")
	key   = device.FromPrivate(eventtest.Key("hub"))
)

func list() roster.Roster {
	a, b := eventtest.Device("laptop"), eventtest.Device("phone")
	return roster.New(hubID, 7, []roster.Device{{ID: min(a, b), Person: "ana"}, {ID: max(a, b), Person: "bob", Revoked: true}}, key)
}

func TestAListReadsBackOnlyAsTheHubSignedIt(t *testing.T) {
	raw := roster.Encode(list())
	got, err := roster.Decode(raw, hubID, key.Public())
	if err != nil || got.Number != 7 || len(got.Devices) != 2 || !got.Devices[1].Revoked {
		t.Fatalf("%+v, %v", got, err)
	}
	unsorted := list()
	unsorted.Devices[0], unsorted.Devices[1] = unsorted.Devices[1], unsorted.Devices[0]
	for name, bad := range map[string][]byte{
		"another number":  bytes.Replace(raw, []byte(`"number":7`), []byte(`"number":8`), 1),
		"another person":  bytes.Replace(raw, []byte(`"ana"`), []byte(`"eve"`), 1),
		"not revoked":     bytes.Replace(raw, []byte(`,"revoked":true`), nil, 1),
		"a blank":         append(raw[:len(raw):len(raw)], ' '),
		"unsorted":        roster.Encode(roster.New(hubID, 7, unsorted.Devices, key)),
		"no number":       roster.Encode(roster.New(hubID, 0, nil, key)),
		"nobody's":        roster.Encode(roster.New(hubID, 7, []roster.Device{{ID: eventtest.Device("x"), Person: "A B"}}, key)),
		"another's":       roster.Encode(roster.New(hubID, 7, nil, device.FromPrivate(eventtest.Key("mallory")))),
		"of another hub":  roster.Encode(roster.New("01kk0000000000000000000001", 7, nil, key)),
		"nothing":         nil,
		"without the sig": roster.Encode(roster.Roster{Format: 1, Hub: hubID, Number: 7}),
	} {
		if _, err := roster.Decode(bad, hubID, key.Public()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := roster.Decode(raw, hubID, nil); err == nil {
		t.Error("a list is taken without a key")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(roster.Encode(list()))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := roster.Decode(b, hubID, key.Public()); err == nil && !bytes.Equal(roster.Encode(r), b) {
			t.Fatalf("%q", b)
		}
	})
}
