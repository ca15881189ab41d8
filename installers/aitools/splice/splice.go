package splice

import (
	"bytes"
	"errors"
	"fmt"
)

// Find tells what text says about e. The error is a *ParseError, or wraps ErrNoPlace.
func Find(text []byte, e Entry) (State, error) {
	tree, err := decode(text, e.Format)
	if err != nil {
		return Absent, err
	}
	return find(tree, e)
}

// Decode reads a whole text into map[string]any, []any, string, bool, nil and numbers of a kind that depends on the
// format. The error is a *ParseError.
func Decode(text []byte, f Format) (any, error) {
	return decode(text, f)
}

// Insert returns the edit that puts e, which must be absent, into text. The edit only inserts. The error is a
// *ParseError, or wraps ErrNoPlace.
func Insert(text []byte, e Entry) (Edit, error) {
	before, err := decode(text, e.Format)
	if err != nil {
		return Edit{}, err
	}
	if state, err := find(before, e); err != nil || state != Absent {
		return Edit{}, errors.Join(err, fmt.Errorf("insert %v: %w", e.Path, ErrNoPlace))
	}
	edit, err := e.Format.syntax().insert(text, e)
	if err != nil {
		return Edit{}, fmt.Errorf("insert %v: %w", e.Path, err)
	}
	after, err := decode(edit.Apply(text), e.Format)
	if err != nil || !sameBut(e, after, before) || stateIn(after, e) != Current {
		return Edit{}, fmt.Errorf("insert %v: %w", e.Path, ErrNoPlace)
	}
	return edit, nil
}

// Cut returns the edits that take e out of text, to be applied in order; none if it is absent. It goes by structure, so
// tables that become empty stay. The error is a *ParseError, or wraps ErrNotCut.
func Cut(text []byte, e Entry) ([]Edit, error) {
	before, err := decode(text, e.Format)
	if err != nil {
		return nil, err
	}
	if state, err := find(before, e); err != nil || state == Absent {
		return nil, err
	}
	edits, err := cutAll(text, e)
	if err != nil {
		return nil, fmt.Errorf("cut %v: %w", e.Path, err)
	}
	if !cleanCut(text, edits, e, before) {
		return nil, fmt.Errorf("cut %v: %w", e.Path, ErrNotCut)
	}
	return edits, nil
}

// cutAll cuts one copy after the other: a list may hold several items that are ours.
func cutAll(text []byte, e Entry) (all []Edit, err error) {
	const maxCopies = 50
	for range maxCopies {
		edits, err := e.Format.syntax().cut(text, e)
		if err != nil {
			return nil, err
		}
		text = applyAll(text, edits)
		all = append(all, edits...)
		state, err := Find(text, e)
		if err != nil {
			return nil, ErrNotCut
		}
		if state == Absent {
			return all, nil
		}
	}
	return nil, ErrNotCut
}

func applyAll(text []byte, edits []Edit) []byte {
	for _, edit := range edits {
		text = edit.Apply(text)
	}
	return text
}

// CutText returns the edit that cuts exactly put, which was inserted into an earlier text for e at about offset at. It
// reports false if put is not there any more, or cannot be told from a second copy, or if what stands around it has come
// to depend on it. Then Cut may still help.
func CutText(text []byte, e Entry, put string, at int) (Edit, bool) {
	where := locate(text, put, at)
	if where < 0 {
		return Edit{}, false
	}
	before, err := decode(text, e.Format)
	if err != nil {
		return Edit{}, false
	}
	edit := Edit{At: where, Cut: len(put)}
	return edit, cleanCut(text, []Edit{edit}, e, before)
}

// Show renders e as a person would paste it into an empty file.
func Show(e Entry) string { return e.Format.syntax().show(e) }

func locate(text []byte, put string, at int) int {
	if put == "" {
		return -1
	}
	if at >= 0 && at <= len(text) && bytes.HasPrefix(text[at:], []byte(put)) {
		return at
	}
	first := bytes.Index(text, []byte(put))
	if first >= 0 && bytes.LastIndex(text, []byte(put)) == first {
		return first
	}
	return -1
}

func cleanCut(text []byte, edits []Edit, e Entry, before any) bool {
	after, err := decode(applyAll(text, edits), e.Format)
	return err == nil && sameBut(e, before, after) && stateIn(after, e) == Absent
}

// stateIn is find for a tree in which a place of the wrong shape cannot have come up by an edit of ours.
func stateIn(tree any, e Entry) State {
	state, err := find(tree, e)
	if err != nil {
		return Foreign
	}
	return state
}

var byteOrderMarks = []string{"\xEF\xBB\xBF", "\xFE\xFF", "\xFF\xFE"}

func decode(text []byte, f Format) (any, error) {
	for _, mark := range byteOrderMarks {
		// In plain text the mark of UTF-8 does no harm: it stays where it is.
		if bytes.HasPrefix(text, []byte(mark)) && !(f == Fenced && len(mark) == 3) {
			return nil, &ParseError{Line: 1, Reason: "the file starts with a byte order mark"}
		}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, &ParseError{Line: lineAt(text, at), Reason: "the file holds a zero byte"}
	}
	return f.syntax().decode(text)
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:offset], []byte("\n"))
}
