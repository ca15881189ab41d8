package event

import (
	"errors"
	"fmt"
)

// ErrNotCanonical means that the bytes are not the one form of the event they
// hold: a member too many, another order, other white space. Refuse them.
var ErrNotCanonical = errors.New("the event file is not in its canonical form")

// A NewerSchemaError reports an event written by a newer program. Keep its
// bytes as they are, show that it is newer, never index or drop it.
type NewerSchemaError struct {
	ID     ID // empty when the newer form hides it
	Schema int
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("event has schema %d and this program knows up to %d: upgrade cairn to read it", e.Schema, Schema)
}

// An InvalidError reports a field that breaks a rule of the format. Reason
// never holds the field's text.
type InvalidError struct {
	Field  string // path of the member, for example payload.support_refs[2].excerpt
	Reason string
}

func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// A TooBigError reports a text or file over its limit. Nothing is cut.
type TooBigError struct {
	Field     string
	Size, Max int
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("%s has %d bytes, the limit is %d: shorten it or split it into several notes", e.Field, e.Size, e.Max)
}

// A NotUTF8Error reports a text that is not valid UTF-8.
type NotUTF8Error struct{ Field string }

func (e *NotUTF8Error) Error() string {
	return e.Field + " is not valid UTF-8: convert it first"
}
