package fleettest_test

import (
	"os"
	"testing"

	"cairn/internal/fleettest"
)

// TestMain is also a hub in a process of its own.
func TestMain(m *testing.M) {
	fleettest.Main()
	os.Exit(m.Run())
}
