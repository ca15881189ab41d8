// Package mcptools is the memory as AI tools see it: an MCP server over
// standard input and output, its tools, and the words that tell a model when
// to call them.
//
// Every client shows its model something else: the server's instructions, the
// names of the tools, or their descriptions. Each of the three therefore says
// by itself when to recall and when to remember. Schemas are flat and written
// by hand, because several clients refuse what generators make; the same
// schema checks the arguments, with messages that a model can act on.
//
// What comes out of the memory was written by others and is handed over as
// quoted data with author, tool, machine and date. It never becomes part of a
// name, a description or the instructions.
//
// The package leaves out on purpose the memory itself (it calls an api.Agent),
// finding or starting an agent (the caller's Connect does), and everything a
// server may ask of its client.
//
// It promises that every byte it writes is protocol, that each request is
// answered exactly once under its own id, also when the input ends right
// behind it, that a line of any length takes bounded memory, that initialize
// waits for nothing, and that a write which has begun is finished even if the
// client cancels it.
package mcptools
