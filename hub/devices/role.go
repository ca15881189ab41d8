package devices

import "slices"

// A Role is what a person may do in a space.
type Role string

// The roles, each of which includes those before it. None is no role at all.
// Admin in any space makes an admin of the whole hub: they run its verbs and
// have every right in every shared space but the one that only the hub writes
// to, and never in a person's own.
const (
	None  Role = ""
	Read  Role = "read"
	Write Role = "write"
	Admin Role = "admin"
)

// AllSpaces stands for every shared space in a member's rights.
const AllSpaces = "*"

var ladder = []Role{None, Read, Write, Admin}

// Allows says whether r includes need.
func (r Role) Allows(need Role) bool {
	return slices.Index(ladder, r) >= slices.Index(ladder, need)
}

// ParseRole reads a role as people write it; "none" is None.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case Read, Write, Admin:
		return r, nil
	case "none":
		return None, nil
	default:
		return None, &FormError{What: "role", Reason: "must be read, write, admin or none"}
	}
}
