package teampolicy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cairn/agent/hubstate"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/versions"
)

// kept is the file: the newest version with what it says, and those before it.
type kept struct {
	Version []byte                   `json:"version"`
	File    []byte                   `json:"file"`
	Prints  []byte                   `json:"prints,omitempty"` // the team's key for fingerprints
	Past    [][]byte                 `json:"past,omitempty"`   // the versions before, oldest first; older programs kept none
	Files   map[versions.Hash][]byte `json:"files,omitempty"`  // theirs, as far as the hub had them
	Sum     versions.Hash            `json:"sum,omitzero"`     // of all this; older programs wrote none

	version   versions.Version
	past      []versions.Version
	policy    *policy.Policy
	hindsight *policy.Hindsight
}

// newKept is the last of line, with its file, and those before it.
func newKept(line []versions.Version, file, prints []byte, files map[versions.Hash][]byte) *kept {
	last := len(line) - 1
	k := &kept{Version: versions.Encode(line[last]), File: file, Prints: prints, Files: files, version: line[last], past: line[:last]}
	for _, v := range k.past {
		k.Past = append(k.Past, versions.Encode(v))
	}
	k.Sum = k.sum()
	return k
}

func (k *kept) sum() versions.Hash {
	parts := append([][]byte{k.Version, k.File, k.Prints}, k.Past...)
	hashes := slices.SortedFunc(maps.Keys(k.Files), func(a, b versions.Hash) int { return bytes.Compare(a[:], b[:]) })
	for i := range hashes {
		parts = append(parts, hashes[i][:], k.Files[hashes[i]])
	}
	return versions.HashOf(bytes.Join(parts, nil))
}

// readPast reads the versions before, which lead to the newest one.
func (k *kept) readPast() error {
	next := k.version
	for _, raw := range slices.Backward(k.Past) {
		v, err := versions.Decode(raw)
		if err != nil || v.Number != next.Number-1 || v.Hash() != next.Previous {
			return errNotWhole
		}
		k.past = append(k.past, v)
		next = v
	}
	slices.Reverse(k.past)
	for h, file := range k.Files {
		if versions.HashOf(file) != h {
			return errNotWhole
		}
	}
	return nil
}

// isWhole says whether all versions before the newest are known.
func (k *kept) isWhole() bool {
	return k == nil || versions.First+len(k.past) == k.version.Number
}

// line is the versions that are known without a gap from the first one, oldest
// first.
func (k *kept) line() []versions.Version {
	if k == nil || !k.isWhole() {
		return nil
	}
	return append(slices.Clone(k.past), k.version)
}

// file is the policy file of a version that is known, nil if it is not here.
func (k *kept) file(h versions.Hash) []byte {
	switch {
	case k == nil:
		return nil
	case h == k.version.File:
		return k.File
	}
	return k.Files[h]
}

// before is what the versions before the newest said.
func (k *Keeper) before(next *kept) []policy.Past {
	var list []policy.Past
	for _, v := range next.past {
		list = append(list, policy.Past{Since: v.Began(), Rules: k.past.read(v.File, next.file(v.File))})
	}
	return list
}

// complete checks what was read from the file, and makes the rest of it.
func (k *Keeper) complete(read *kept) (err error) {
	if !read.Sum.IsZero() && read.Sum != read.sum() {
		return errNotWhole
	}
	if read.version, err = versions.Decode(read.Version); err != nil {
		return err
	}
	if versions.HashOf(read.File) != read.version.Proposal.File {
		return errNotWhole
	}
	if err := read.readPast(); err != nil {
		return err
	}
	return k.compile(read)
}

// of is what is kept of a hub, nil for nothing.
func (k *kept) of(hub event.ID) *kept {
	if k == nil || k.version.Hub != hub {
		return nil
	}
	return k
}

// mark is the version's mark; that of the built-in rules for nothing kept.
func (k *kept) mark() hubwire.PolicyMark {
	if k == nil {
		return hubwire.BuiltIn
	}
	return hubwire.PolicyMark{Number: k.version.Number, Hash: k.version.Hash().String()}
}

// follows says whether the version comes right after that of the mark.
func (k *kept) follows(m hubwire.PolicyMark) bool {
	if k == nil || k.version.Number != m.Number+1 {
		return false
	}
	return k.version.Number == versions.First || k.version.Previous.String() == m.Hash
}

// backwards refuses what a hub shows that is not newer.
func (k *kept) backwards(shown hubwire.PolicyMark) *hubstate.RefusedError {
	return &hubstate.RefusedError{Why: &BackwardsError{Have: k.mark().Number, Shown: shown.Number}}
}

// giveBack gives the version back to a hub that has lost just this one, since it
// was restored from a backup made just before. If the hub does not take it, what
// it shows is older than what is here.
func (k *kept) giveBack(ctx context.Context, hub Hub, shown hubwire.PolicyMark) error {
	err := hub.Return(ctx, k.Version, k.File)
	if err == nil {
		return nil
	}
	no := k.backwards(shown)
	no.Again = !isFinal(err)
	return no
}

// isFinal says whether the hub itself will say the same again: it neither broke
// down nor was it busy or out of reach.
func isFinal(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code != problem.Failed && p.Code != problem.Busy && p.Code != problem.Offline
}

// fetch follows the hub's chain from what is kept to its end, or from its
// beginning if not all of that is kept. The error is a *versions.ChainError if a
// link does not hold.
func fetch(ctx context.Context, hub Hub, have *kept) (*kept, error) {
	line := have.line()
	for {
		last := lastOf(line)
		a, err := hub.Since(ctx, numberOf(last))
		if err != nil {
			return nil, err
		}
		chain, err := follow(hub, last, a)
		if err != nil {
			return nil, err
		}
		line = append(line, chain...)
		if len(a.File) == 0 { // there is more to come
			continue
		}
		if last = lastOf(line); versions.HashOf(a.File) != last.File {
			return nil, &versions.ChainError{Number: last.Number, Reason: "the file that came with it is another one"}
		}
		if !have.isOn(line) {
			return nil, &versions.ChainError{Number: last.Number, Reason: fmt.Sprintf("it does not follow the version %d that is known here", have.version.Number)}
		}
		files, err := filesOf(ctx, hub, have, line)
		if err != nil {
			return nil, err
		}
		return newKept(line, a.File, a.Prints, files), nil
	}
}

// isOn says whether what is kept is one of the versions.
func (k *kept) isOn(line []versions.Version) bool {
	if k == nil {
		return true
	}
	at := k.version.Number - versions.First
	return at < len(line) && line[at].Hash() == k.version.Hash()
}

// filesOf are the files of all versions but the last. One that the hub does not
// have any more is left out: a version of which nothing is known forbids
// nothing.
func filesOf(ctx context.Context, hub Hub, have *kept, line []versions.Version) (map[versions.Hash][]byte, error) {
	files := map[versions.Hash][]byte{}
	for _, v := range line[:len(line)-1] {
		if _, known := files[v.File]; known {
			continue
		}
		file := have.file(v.File)
		if file == nil {
			var err error
			if file, err = hub.File(ctx, v.Number); err != nil && !isFinal(err) {
				return nil, err
			}
		}
		if versions.HashOf(file) == v.File {
			files[v.File] = file
		}
	}
	return files, nil
}

func lastOf(line []versions.Version) *versions.Version {
	if len(line) == 0 {
		return nil
	}
	return &line[len(line)-1]
}

func numberOf(last *versions.Version) int {
	if last == nil {
		return versions.First - 1
	}
	return last.Number
}

// follow reads an answer, which must lead on from last by at least one link.
func follow(hub Hub, last *versions.Version, a hubwire.PolicyAnswer) ([]versions.Version, error) {
	if err := hub.Check(a.Key); err != nil {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: err.Error()}
	}
	if len(a.Versions) == 0 {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: "the hub does not show what leads to it"}
	}
	return versions.Anchor{Hub: hub.ID, Key: a.Key}.Read(last, a.Versions)
}
