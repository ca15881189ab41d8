// Package demo shows the whole product on one machine, for real: a hub on a
// loopback port, two enrolled machines each with its own replica and index, an
// MCP client in front of each, and plain git clients that try what must not
// pass.
//
// Nothing is simulated. What the demo says it has seen, it has checked; the
// first thing that does not hold ends it.
package demo
