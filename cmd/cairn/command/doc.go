// Package command is the command line: one file a command, each turning flags
// into a request, making one call, and printing the result as text or JSON.
//
// Nothing is decided here that a program using the socket or MCP would miss.
// Only Main turns an error into an exit code.
package command
