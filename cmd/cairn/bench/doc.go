// Package bench measures the program on the machine it runs on, in a scratch
// folder that is removed: saving, asking, syncing, a hub with many machines, the
// log on disk, the gate, and the start of an MCP server.
//
// Everything is the real thing, processes, sockets, disk and loopback network
// included. Where there is something to compare with, such as the disk's own
// price of a sync or stock git, it runs in turns with ours in the same run, and
// the ratio of the two is what holds on another machine.
//
// It judges nothing: what is fast enough is for docs/PERFORMANCE.md to say. The
// search engine alone is compared with another one in search/fts5bench.
package bench
