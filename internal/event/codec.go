package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Encode is the canonical form of e: UTF-8 JSON with one space of indent, the
// members in the order of the fields, no HTML escapes, one newline at the end.
// The event must be valid (Validate), or the bytes will not decode.
func Encode(e Event) ([]byte, error) {
	if e.Tags == nil {
		e.Tags = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	if b.Len() > MaxFile {
		return nil, &TooBigError{Field: "event", Size: b.Len(), Max: MaxFile}
	}
	return b.Bytes(), nil
}

// Unsigned is the canonical form of e without its signature: what is signed,
// and what is scanned.
func Unsigned(e Event) ([]byte, error) {
	e.Sig = nil
	return Encode(e)
}

// Decode reads one event from its canonical bytes and validates it. Errors:
// *NewerSchemaError, *InvalidError, *TooBigError, *NotUTF8Error,
// ErrNotCanonical, or one that wraps the fault in the JSON.
func Decode(b []byte) (Event, error) {
	if len(b) > MaxFile {
		return Event{}, &TooBigError{Field: "event", Size: len(b), Max: MaxFile}
	}
	if !utf8.Valid(b) {
		return Event{}, &NotUTF8Error{Field: "event"}
	}
	e, err := decode(b)
	if err != nil {
		return Event{}, err
	}
	again, err := Encode(e)
	if err != nil {
		return Event{}, err
	}
	if !bytes.Equal(b, again) {
		return Event{}, ErrNotCanonical
	}
	return e, e.Validate()
}

// stored is Event with its payload still unread.
type stored struct {
	Event
	Payload json.RawMessage `json:"payload"`
}

func decode(b []byte) (Event, error) {
	var head struct {
		Schema int  `json:"schema"`
		ID     ID   `json:"id"`
		Kind   Kind `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Event{}, decodeError(err)
	}
	if head.Schema > Schema {
		return Event{}, &NewerSchemaError{ID: head.ID, Schema: head.Schema}
	}
	payload := NewPayload(head.Kind)
	if payload == nil {
		return Event{}, &InvalidError{Field: "kind", Reason: "no such kind of event"}
	}
	var s stored
	if err := strict(b, &s); err != nil {
		return Event{}, err
	}
	if err := strict(s.Payload, payload); err != nil {
		return Event{}, err
	}
	e := s.Event
	e.Payload = payload
	return e, nil
}

func strict(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return decodeError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return ErrNotCanonical
	}
	return nil
}

// decodeError keeps where a fault lies and drops what the JSON package quotes
// of the input, which may be a secret.
func decodeError(err error) error {
	if syn, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("event is not JSON: fault at byte %d", syn.Offset)
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &InvalidError{Field: fieldOr(typ.Field, "event"), Reason: "has the wrong type"}
	}
	if inv, ok := errors.AsType[*InvalidError](err); ok {
		return inv
	}
	return &InvalidError{Field: "event", Reason: "has an unknown or malformed member"}
}

func fieldOr(field, fallback string) string {
	if field == "" {
		return fallback
	}
	return field
}
