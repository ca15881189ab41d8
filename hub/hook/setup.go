package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"cairn/hub/audit"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// A Setup says where a hook finds what it judges by. Each of its files is read
// anew for every push; one that is missing or not understood refuses it.
type Setup struct {
	Space        string `json:"space,omitempty"`        // that the repository must be
	Keys         string `json:"keys,omitempty"`         // the public keys whose events are taken
	Policy       string `json:"policy,omitempty"`       // a policy file, or a folder of a hub's signed versions
	Fingerprints string `json:"fingerprints,omitempty"` // the team's key for what a policy excuses
	Members      string `json:"members,omitempty"`      // a hub's signed list of devices, or a folder of such
	HubKey       string `json:"hub_key,omitempty"`      // the public key of that hub
	Owner        string `json:"owner,omitempty"`        // whose space personal it is
	Audit        string `json:"audit,omitempty"`        // the file for records
	AuditMiB     int    `json:"audit_mib,omitempty"`    // that it and the one before it take at most; 64 if zero
	Timeout      string `json:"timeout,omitempty"`      // of one push; ten minutes if empty
}

const (
	defaultAuditMiB = 64
	defaultTimeout  = 10 * time.Minute
	maxSetup        = 64 << 10
)

// ReadSetup reads one from a JSON file. Paths in it are counted from its
// folder. A member that is not known is an error: it may be one on which
// somebody relies.
func ReadSetup(fsys disk.FS, path string) (Setup, error) {
	var s Setup
	b, err := readMost(fsys, path, maxSetup)
	if err != nil {
		return s, fmt.Errorf("read the hook's configuration: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return Setup{}, usage("the hook's configuration is not understood: " + err.Error())
	}
	for _, p := range s.paths() {
		if *p != "" {
			*p = within(filepath.Dir(path), *p)
		}
	}
	return s, nil
}

func (s *Setup) paths() []*string {
	return []*string{&s.Keys, &s.Policy, &s.Fingerprints, &s.Members, &s.HubKey, &s.Audit}
}

// Over is base with whatever s says in its place.
func (s Setup) Over(base Setup) Setup {
	return Setup{
		Space: cmp.Or(s.Space, base.Space), Keys: cmp.Or(s.Keys, base.Keys), Policy: cmp.Or(s.Policy, base.Policy),
		Fingerprints: cmp.Or(s.Fingerprints, base.Fingerprints), Members: cmp.Or(s.Members, base.Members),
		HubKey: cmp.Or(s.HubKey, base.HubKey), Owner: cmp.Or(s.Owner, base.Owner), Audit: cmp.Or(s.Audit, base.Audit),
		AuditMiB: cmp.Or(s.AuditMiB, base.AuditMiB), Timeout: cmp.Or(s.Timeout, base.Timeout),
	}
}

// Absolute makes the paths independent of where the hook is started.
func (s Setup) Absolute() (Setup, error) {
	for _, p := range s.paths() {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return s, err
		}
		*p = abs
	}
	return s, nil
}

// Ledger is where records go; nil for nowhere.
func (s Setup) Ledger(fsys disk.FS, now func() time.Time) *audit.File {
	if s.Audit == "" {
		return nil
	}
	most := s.AuditMiB
	if most <= 0 {
		most = defaultAuditMiB
	}
	return audit.NewFile(fsys, s.Audit, int64(most)<<20, now)
}

// sound finds what does not go together.
func (s Setup) sound() error {
	switch {
	case s.Space != "" && !event.ValidSpaceName(s.Space):
		return usage("this is not the name of a space")
	case s.Members != "" && s.HubKey == "":
		return usage("a signed list of members needs the hub's public key beside it")
	case s.Owner != "" && (s.Members == "" || s.Space != hubwire.Personal):
		return usage("an owner is for the space personal, and needs a signed list of members")
	case s.Members != "" && s.Space == hubwire.Personal && s.Owner == "":
		return usage("the space personal needs an owner beside the list of members")
	case s.Fingerprints != "" && s.Policy == "":
		return usage("a key for fingerprints is for a policy, and none is named")
	}
	return nil
}
