// Package agent is the life of one machine's memory: it puts memory, courier
// and socket together for one home, and finds or becomes the process that
// owns it.
//
// One process owns a home at a time. The command line, MCP and hooks connect
// to it; if there is none they start one in the background, and if that cannot
// be they own the home themselves for as long as they work. If the owner hangs
// they append under the log's own lock, and the next owner catches up. In none
// of these is anything lost.
package agent
