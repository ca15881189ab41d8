// Package paths says where everything of a home lies, on every system.
//
// It computes names and touches nothing on disk.
package paths
