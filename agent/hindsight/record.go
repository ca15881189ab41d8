package hindsight

import (
	"encoding/json"
	"errors"
	"io/fs"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/policy"
)

// A basis is what events are judged by: the program's own rules, and the team's.
type basis struct {
	Program string `json:"program"`
	policy.Basis
}

// adjoins says whether no other basis can have been in force between the two.
func (b basis) adjoins(next basis) bool {
	return b.Program == next.Program && (next.Number == b.Number || next.Number == b.Number+1)
}

// A record is what is remembered of a space.
type record struct {
	By   basis `json:"by"`             // what all that was there was judged by last
	Pass *pass `json:"pass,omitempty"` // the look under way
}

// A pass is a look at all that is in a space.
type pass struct {
	By    basis    `json:"by"`
	Texts bool     `json:"texts"`           // secrets are looked for too
	After event.ID `json:"after,omitempty"` // the last event that was looked at
}

// due is the pass that a space needs now; nil for none. It changes the record
// where the rules are others and no verdict is.
func (r *record) due(now basis) *pass {
	switch {
	case r.Pass != nil && r.Pass.By == now:
		return r.Pass
	case r.Pass != nil: // some were judged by what it was for
		return &pass{By: now, Texts: true}
	case r.By == now:
		return nil
	}
	same := r.By.adjoins(now) && r.By.Secrets == now.Secrets
	if same && r.By.Terms == now.Terms && r.By.Whole == now.Whole {
		r.By = now
		return nil
	}
	return &pass{By: now, Texts: !same}
}

// records is the file, by space. It can be deleted at any time: then everything
// is looked at once more.
type records map[string]*record

func load(fsys disk.FS, path string) (records, error) {
	r := records{}
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &r) != nil || r == nil {
		return records{}, nil
	}
	for name, one := range r {
		if one == nil {
			delete(r, name)
		}
	}
	return r, nil
}

func (r records) save(fsys disk.FS, path string) error {
	return atomicfile.WriteJSON(fsys, path, r, "", 0o600)
}

// of is the record of a space.
func (r records) of(space string) *record {
	if r[space] == nil {
		r[space] = &record{}
	}
	return r[space]
}
