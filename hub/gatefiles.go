package hub

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/policy/roster"
	"cairn/policy/versions"
)

// Names in what ExportGate writes.
const (
	gateKeyFile     = "hub.pub"
	gateMembersFile = "members.json"
	gatePolicyDir   = "policy"
)

// A GateFiles says what ExportGate wrote.
type GateFiles struct {
	Dir     string `json:"dir"`
	HubKey  string `json:"hub_key"`
	Members string `json:"members"`
	Policy  string `json:"policy,omitempty"` // a folder; none as long as the team has written no policy
	Version int    `json:"version"`          // that is in force
	Devices int    `json:"devices"`
}

func (g GateFiles) String() string {
	said := fmt.Sprintf("Wrote %s and %s (%d devices)", g.HubKey, g.Members, g.Devices)
	if g.Policy != "" {
		said += fmt.Sprintf(" and %s (version %d)", g.Policy, g.Version)
	}
	return said + ".\nThey are for the user alone under whom git runs: chown and chmod them so.\n"
}

// ExportGate writes into dir what the hook in front of another git server
// judges by: the hub's public key, the signed list of devices and every signed
// version of the policy, with the team's key for fingerprints. Only what is not
// there already is written, as policies.Store.Export does: a hook that looks
// meanwhile, or after an export that broke off, never takes half of it for the
// whole. No private key is among them.
func (h *Hub) ExportGate(ctx context.Context, dir string) (GateFiles, error) {
	g := GateFiles{Dir: dir, HubKey: filepath.Join(dir, gateKeyFile), Members: filepath.Join(dir, gateMembersFile), Version: versions.First - 1}
	m, err := h.members.Now()
	if err != nil {
		return g, err
	}
	list, err := h.roster(m)
	if err != nil {
		return g, err
	}
	key, err := ssh.NewPublicKey(h.key.Public())
	if err != nil {
		return g, fmt.Errorf("write the hub's key: %w", err)
	}
	if err := disk.MakeDir(h.fs, dir, 0o700); err != nil {
		return g, err
	}
	g.Devices = len(list.Devices)
	if _, err := atomicfile.WriteChanged(h.fs, g.HubKey, ssh.MarshalAuthorizedKey(key), 0o600); err != nil {
		return g, err
	}
	policy := filepath.Join(dir, gatePolicyDir)
	if g.Version, err = h.team.Export(ctx, policy); err != nil {
		return g, err
	}
	if g.Version >= versions.First {
		g.Policy = policy
	}
	_, err = atomicfile.WriteChanged(h.fs, g.Members, roster.Encode(list), 0o600)
	return g, err
}
