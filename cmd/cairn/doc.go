// Command cairn is one memory for every AI coding agent, on every machine a
// person or a team works on.
package main
