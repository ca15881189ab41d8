package commitform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"cairn/internal/event"
)

// SpaceFile is the name of the file in the root commit that says what space
// the repository is.
const SpaceFile = "cairn.json"

// Format is the version of the repository's layout that this package knows.
const Format = 1

// A Space is the identity of one shared log. Two repositories belong together
// only if both members are equal.
type Space struct {
	Name string
	ID   event.ID
}

// ErrForeign means that the repository is not a space of cairn. Refuse it.
var ErrForeign = errors.New("the repository is not a cairn space: its cairn.json is missing or malformed")

// A NewerFormatError reports a repository laid out by a newer program.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("the space has format %d and this program knows %d: upgrade cairn", e.Format, Format)
}

type spaceFile struct {
	Format int      `json:"format"`
	Space  string   `json:"space"`
	ID     event.ID `json:"id"`
}

// EncodeSpace is the content of the file SpaceFile for s.
func EncodeSpace(s Space) []byte {
	b, err := json.MarshalIndent(spaceFile{Format, s.Name, s.ID}, "", " ")
	if err != nil {
		panic("commitform: two strings and a number do not encode: " + err.Error())
	}
	return append(b, '\n')
}

// DecodeSpace reads the content of the file SpaceFile. Errors: ErrForeign,
// *NewerFormatError.
func DecodeSpace(b []byte) (Space, error) {
	var f spaceFile
	if err := json.Unmarshal(b, &f); err != nil {
		return Space{}, ErrForeign
	}
	if f.Format > Format {
		return Space{}, &NewerFormatError{Format: f.Format}
	}
	s := Space{Name: f.Space, ID: f.ID}
	if _, err := event.ParseID(string(s.ID)); err != nil || !event.ValidSpaceName(s.Name) {
		return Space{}, ErrForeign
	}
	if !bytes.Equal(b, EncodeSpace(s)) {
		return Space{}, ErrForeign
	}
	return s, nil
}
