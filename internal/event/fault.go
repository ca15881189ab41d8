package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// faultIn says why b is not the canonical form of an event. It reads b as any
// program would read JSON, to tell a newer event or a fault that has a name
// from one that is only written in another way.
func faultIn(b []byte) error {
	var head struct {
		Schema int  `json:"schema"`
		ID     ID   `json:"id"`
		Kind   Kind `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nameless(err)
	}
	if head.Schema > Schema {
		return &NewerSchemaError{ID: head.ID, Schema: head.Schema}
	}
	payload := NewPayload(head.Kind)
	if payload == nil {
		return &InvalidError{Field: "kind", Reason: "no such kind of event"}
	}
	var s struct {
		Event
		Payload json.RawMessage `json:"payload"`
	}
	if err := strict(b, &s); err != nil {
		return err
	}
	if err := strict(s.Payload, payload); err != nil {
		return err
	}
	return ErrNotCanonical
}

func strict(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return nameless(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return ErrNotCanonical
	}
	return nil
}

// nameless keeps where a fault lies and drops what the JSON package quotes of
// the input, which may be a secret.
func nameless(err error) error {
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
