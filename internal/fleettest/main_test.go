package fleettest_test

import (
	"os"
	"testing"

	"cairn/internal/fleettest"
)

// TestMain is also a hub, or foes, in a process of their own.
func TestMain(m *testing.M) {
	fleettest.Main()
	beGang()
	os.Exit(m.Run())
}
