// Package api is what can be asked of a machine's memory: the requests, the
// answers, and the one interface that both the agent in this process and the
// client of an agent in another process fulfil.
//
// The JSON of the answers is what the command line prints with --json and
// what the MCP tools return as structured content. The package does nothing
// by itself.
package api
