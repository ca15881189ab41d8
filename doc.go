// Package cairn is the root of the tree and holds no code, only this tour and
// the test of the map (layout_test.go).
//
// An event's way leads through the tree like this. A tool calls one of the
// MCP tools (agent/mcptools) or a person types a command (cmd/cairn/command).
// Either reaches the process that owns the home over its socket
// (agent/localapi). The memory (agent/memory) has the policy judge it
// (policy, policy/secrets), appends it to the space's log (sync/eventlog on
// sync/gitstore), where it is durable and acknowledged, and puts it into the
// index (search). The courier (agent/courier) pushes it to the hub
// (sync/replica), where the SSH door (hub/sshdoor) knows the device
// (hub/devices) and the repository (hub/repository) has every object checked
// (sync/intake), judged (policy) and joined (sync/merge). Another machine's
// courier hears of it, fetches, checks again and merges; its memory indexes
// the event, and a search there finds it.
//
// What all of them share is in internal: above all the event and its bytes
// (internal/event) and the bytes of every commit (internal/commitform).
//
// docs/ARCHITECTURE.md tells the same at length, docs/FORMAT.md the bytes.
package cairn
