package chronicle

import (
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// errTaken says that a space of that name was here before the hub wrote to one.
var errTaken = &problem.Problem{
	Code: problem.Foreign,
	Message: "this hub had a space of the name " + hubwire.Audit + " before the name became its own: " +
		"admins may still read it, nobody writes to it, and no audit events are written",
	Hint: `save its notes in another space, take its repository out of the hub's folder, and start the hub again`,
}
