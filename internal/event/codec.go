package event

import (
	"fmt"
	"unicode/utf8"
)

// usualSize is more than most events take.
const usualSize = 2 << 10

// Encode is the canonical form of e: UTF-8 JSON with one space of indent, the
// members in the order of the fields, no HTML escapes, one newline at the end.
// The event must be valid (Validate), or the bytes will not decode.
func Encode(e Event) ([]byte, error) {
	if e.Tags == nil {
		e.Tags = []string{}
	}
	f := form{buf: make([]byte, 0, usualSize)}
	f.event(&e)
	if f.err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, f.err)
	}
	if len(f.buf) > MaxFile {
		return nil, &TooBigError{Field: "event", Size: len(f.buf), Max: MaxFile}
	}
	return f.buf, nil
}

// Unsigned is the canonical form of e without its signature: what is signed,
// and what is scanned.
func Unsigned(e Event) ([]byte, error) {
	e.Sig = nil
	return Encode(e)
}

// Decode reads one event from its canonical bytes and validates it. It keeps
// nothing of b. Errors: *NewerSchemaError, *InvalidError, *TooBigError,
// *NotUTF8Error, ErrNotCanonical, or one that names the fault in the JSON.
func Decode(b []byte) (Event, error) {
	if len(b) > MaxFile {
		return Event{}, &TooBigError{Field: "event", Size: len(b), Max: MaxFile}
	}
	if !utf8.Valid(b) {
		return Event{}, &NotUTF8Error{Field: "event"}
	}
	var e Event
	f := form{buf: b, reading: true}
	f.event(&e)
	if f.err != nil || len(f.buf) > 0 {
		return Event{}, faultIn(b)
	}
	if e.Schema > Schema {
		return Event{}, &NewerSchemaError{ID: e.ID, Schema: e.Schema}
	}
	return e, e.Validate()
}
