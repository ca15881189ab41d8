package hubwire_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
)

func TestARenewalProvesTheKeyOnOneConnection(t *testing.T) {
	key, session := device.FromPrivate(eventtest.Key("laptop")), []byte("session one")
	good := hubwire.NewRenewRequest(key, session)
	if got, err := good.Key(session); err != nil || !got.Equal(key.Public()) {
		t.Fatalf("on its own connection: %v", err)
	}
	enrolment := hubwire.NewEnrolRequest(key, "laptop", session)
	for name, bad := range map[string]struct {
		hubwire.RenewRequest
		session []byte
	}{
		"replayed":             {good, []byte("session two")},
		"without a session":    {good, nil},
		"another's key":        {hubwire.RenewRequest{DeviceKey: device.FromPrivate(eventtest.Key("b")).Public(), Signature: good.Signature}, session},
		"short key":            {hubwire.RenewRequest{DeviceKey: good.DeviceKey[1:], Signature: good.Signature}, session},
		"an enrolment's words": {hubwire.RenewRequest{DeviceKey: good.DeviceKey, Signature: enrolment.Signature}, session},
	} {
		if _, err := bad.Key(bad.session); !errors.Is(err, hubwire.ErrEnrolment) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asEnrolment := hubwire.EnrolRequest{DeviceKey: good.DeviceKey, Name: "laptop", Signature: good.Signature}
	if _, err := asEnrolment.Key(session); !errors.Is(err, hubwire.ErrEnrolment) {
		t.Errorf("a renewal taken for an enrolment: %v", err)
	}
}

func TestALeaseReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var commit commitform.Hash
		copy(commit[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "commit"))
		if got, ok := hubwire.ParseLease(hubwire.FormatLease(commit)); !ok || got != commit {
			t.Fatalf("%s reads as %x, %v", hubwire.FormatLease(commit), got, ok)
		}
	})
}

func FuzzParseLease(f *testing.F) {
	f.Add(hubwire.FormatLease(commitform.Hash{1, 2, 3}))
	f.Add(hubwire.Lease + "=")
	f.Add("cairn-last")
	f.Fuzz(func(t *testing.T, s string) {
		if commit, ok := hubwire.ParseLease(s); ok && hubwire.FormatLease(commit) != s {
			t.Fatalf("%q reads as %x", s, commit)
		}
	})
}
