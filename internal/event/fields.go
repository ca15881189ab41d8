package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// A Field is one string in an event that its writer chose, with the path of
// its member, for example payload.content or tags[1].
type Field struct {
	Path  string
	Value string
}

// Fields lists every string of e in the order of the file, so that a scanner
// of fields cannot overlook one. Left out are the members whose form leaves a
// writer no choice of words: schema, id, kind, observed, layer,
// classification, actor.kind, actor.device and sig.
func Fields(e Event) ([]Field, error) {
	b, err := Unsigned(e)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	w := &fieldWalk{dec: dec}
	if err := w.value(""); err != nil {
		return nil, fmt.Errorf("list the fields of event %s: %w", e.ID, err)
	}
	return w.out, nil
}

var formOnly = map[string]bool{
	"id": true, "kind": true, "observed": true, "layer": true, "classification": true,
	"actor.kind": true, "actor.device": true,
}

type fieldWalk struct {
	dec *json.Decoder
	out []Field
}

func (w *fieldWalk) value(path string) error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return w.object(path)
		}
		return w.array(path)
	case string:
		if !formOnly[path] {
			w.out = append(w.out, Field{Path: path, Value: t})
		}
	}
	return nil
}

func (w *fieldWalk) object(path string) error {
	for w.dec.More() {
		name, err := w.dec.Token()
		if err != nil {
			return err
		}
		member := name.(string)
		if path != "" {
			member = path + "." + member
		}
		if err := w.value(member); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *fieldWalk) array(path string) error {
	for i := 0; w.dec.More(); i++ {
		if err := w.value(path + "[" + strconv.Itoa(i) + "]"); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}
