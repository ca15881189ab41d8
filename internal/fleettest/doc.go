// Package fleettest runs a hub and any number of machines in one process, for
// tests that read as stories: machines save, ask, lose the hub and find it
// again. Everything is real: git, SSH, index, sockets; only the processes are
// one, unless a hub is started apart to see what it alone takes. It waits for conditions, never for a time.
package fleettest
