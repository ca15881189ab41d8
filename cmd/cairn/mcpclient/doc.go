// Package mcpclient is an AI tool as this program sees it: a process that
// starts "cairn mcp" for a home and calls its tools over standard input and
// output. The demo and the benchmarks use it.
//
// It knows only what they need of MCP; the protocol itself is mcp-go's.
package mcpclient
