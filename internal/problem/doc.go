// Package problem is how a failure is told to whoever asked: a stable code, a
// sentence, and what to do next. It is the form in which an error crosses the
// socket, reaches an MCP client or is printed, so it must never hold a text
// that was refused.
package problem
