// Package aitools connects AI tools to cairn and disconnects them: the entry that makes a tool start "cairn mcp", the text
// that says when to recall and when to remember, and a hook at the start of a session where the tool has one. Each tool has
// one file, which says what belongs where; everything else is shared.
//
// Plan and PlanRemove read only and return what would change, file by file. Apply does it. A second connection changes
// nothing; a disconnection gives back the bytes that were there before, as long as nobody else changed the same lines. What
// others wrote, and its comments, order and line ends, stays in every case. A file that cannot be edited safely is left
// alone and reported in a ManualError, with the lines to paste.
//
// What was inserted is kept in a ledger, with a copy of each file as it was before the first edit, in the directory "connect"
// of cairn's home. The ledger makes a disconnection exact; without it the entries are still found, by what they say. The copies
// stay there, readable by their user alone, until somebody deletes them.
//
// It leaves out on purpose running the tools, approving anything in their name (a tool that asks its user to trust a hook
// has a reason to), and files that a running tool rewrites all the time.
package aitools
