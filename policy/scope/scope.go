package scope

import (
	"fmt"

	"cairn/internal/event"
)

// The two spaces that exist on every machine.
const (
	Personal = "personal" // shared by one person's own devices
	Local    = "local"    // never leaves the machine: it can have no remote
)

// Default is the classification of an event in a space when its writer gave
// none: what the space is for.
func Default(space string) event.Classification {
	switch space {
	case Personal:
		return event.Private
	case Local:
		return event.Secret
	}
	return event.Public
}

// MayTravel says whether a space may have a remote.
func MayTravel(space string) bool { return space != Local }

// Allowed returns nil if an event of class c may stand in the space, and a
// *MisplacedError otherwise.
func Allowed(space string, c event.Classification) error {
	switch {
	case c == event.Public,
		c == event.Private && space == Personal,
		c == event.Secret && space == Local:
		return nil
	}
	return &MisplacedError{Space: space, Class: c}
}

// A MisplacedError reports an event that its class keeps out of a space.
// Nothing was written. The writer chooses another space or another class.
type MisplacedError struct {
	Space string
	Class event.Classification
}

func (e *MisplacedError) Error() string {
	return fmt.Sprintf("a %s event may not stand in the space %s: %s", e.Class, e.Space, e.advice())
}

func (e *MisplacedError) advice() string {
	switch e.Class {
	case event.Private:
		return `save it to "personal", or as public if everyone in that space may read it`
	case event.Secret:
		return `save it to "local", which never leaves this machine, or as another class`
	}
	return "its class must be public, private or secret"
}
