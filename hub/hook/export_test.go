package hook

import "cairn/internal/event"

// Open to tests.
var (
	ReadCommands = readCommands
	ReadPlaces   = readPlaces
	SplitPaths   = splitPaths
)

// Origin is origin.
func (m *Members) Origin(space string, id event.DeviceID) (rule, hint string) {
	return m.origin(space)(id)
}
