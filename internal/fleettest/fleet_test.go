package fleettest_test

import (
	"testing"

	"cairn/hub"
	"cairn/internal/fleettest"
)

func TestANoteTravelsByItself(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	laptop, desktop := f.Machine("laptop"), f.Machine("desktop")
	laptop.Note("personal", "offline on the laptop")
	desktop.Note("personal", "offline on the desktop")
	laptop.Join(f.Invite("ana"))
	desktop.Join(f.Invite("ana"))
	laptop.Has("personal", "offline on the laptop", "offline on the desktop")
	desktop.Has("personal", "offline on the laptop", "offline on the desktop")
	laptop.Note("team", "from the laptop")
	desktop.Finds("laptop", "from the laptop")
	desktop.Note("team", "from the desktop")
	laptop.Finds("desktop", "from the desktop")
}
