package mend

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/purge"
)

// Options say which repository to look at, and what others know of it.
type Options struct {
	FS   disk.FS
	Dir  string
	Name string // of the space
	// Known are commits that the branch has been seen at.
	Known []plumbing.Hash
	// Deep reads every byte; otherwise only what every use would trip over is
	// found.
	Deep bool
	// Refill stores what others have of the history of commits and this
	// repository lacks, but nothing that was purged; nil if nobody else has any
	// of it. It takes gitstore.Store.LockPending itself: while it waits for
	// others nobody holds that.
	Refill func(ctx context.Context, store *gitstore.Store, commits []plumbing.Hash) error
}

// A Finding is something that was not as it should be.
type Finding struct {
	What   string // is or was wrong
	Mended string // what was done; empty if nothing was
	Next   string // what to do; empty when it was mended
}

// Repository looks at the repository and mends what it can. Without findings
// nothing is wrong as far as it looked. The error is one of
// gitstore.OpenDamaged, of the disk or of the context: then it could not look.
//
// The caller must not hold the append lock.
func Repository(ctx context.Context, opt Options) (found []Finding, err error) {
	store, err := gitstore.OpenDamaged(opt.FS, opt.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	m := &mender{opt: opt, store: store}
	if err := m.look(ctx); err != nil {
		return m.found, err
	}
	if !m.lacking || opt.Refill == nil {
		return m.found, nil
	}
	if m.unsure != nil {
		m.add("what is missing was not fetched, because it is not known what was purged: "+m.unsure.Error(), "", "put that right first, or put the repository "+opt.Dir+" back from a backup")
		return m.found, nil
	}
	return m.again(ctx)
}

type mender struct {
	opt     Options
	store   *gitstore.Store
	found   []Finding
	lacking bool       // objects, which others may have
	gone    *purge.Set // what was purged
	unsure  error      // why that is not known; nil if it is
}

// purged reads what must never come back.
func (m *mender) purged(context.Context) error {
	gone, err := eventlog.PurgedFrom(m.store)
	_, bad := errors.AsType[*purge.RecordError](err)
	if bad || err != nil && (isRefDamage(err) || isObjectDamage(err)) {
		m.unsure = err
		return nil
	}
	m.gone = gone
	return err
}

// again looks once more after others gave what they have.
func (m *mender) again(ctx context.Context) ([]Finding, error) {
	known, err := m.known()
	if err != nil {
		return m.found, err
	}
	if err := m.opt.Refill(ctx, m.store, known); err != nil {
		m.add("what is missing could not be fetched: "+err.Error(), "", "run cairn doctor again when the remote can be reached")
		return m.found, ctx.Err()
	}
	first := m.found
	second := &mender{opt: m.opt, store: m.store}
	if err := second.look(ctx); err != nil {
		return first, err
	}
	for i := range first {
		if first[i].Mended == "" && !has(second.found, first[i].What) {
			first[i].Mended, first[i].Next = "what was missing was fetched again", ""
		}
	}
	for _, f := range second.found {
		if !has(first, f.What) {
			first = append(first, f)
		}
	}
	return first, nil
}

// known are commits that the branch was at, or is behind, as far as anybody
// remembers.
func (m *mender) known() ([]plumbing.Hash, error) {
	refs, _, err := m.store.IntactRefs()
	if err != nil {
		return nil, err
	}
	known := slices.Collect(maps.Values(refs))
	for _, h := range m.opt.Known {
		if !h.IsZero() {
			known = append(known, h)
		}
	}
	return known, nil
}

func has(list []Finding, what string) bool {
	for _, f := range list {
		if f.What == what && f.Mended == "" {
			return true
		}
	}
	return false
}

func (m *mender) add(what, mended, next string) {
	if mended != "" {
		next = ""
	}
	m.found = append(m.found, Finding{What: what, Mended: mended, Next: next})
}

// look goes from the files up to the history. Who takes purged objects off the
// disk and who puts right what is there must not meet.
func (m *mender) look(ctx context.Context) (err error) {
	turn, err := m.store.LockPending(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	for _, step := range []func(context.Context) error{m.lock, m.purged, m.objects, m.head, m.branch, m.otherRefs, m.history, m.strays} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lock finds a lock file that somebody else left behind. One of a killed
// process of ours is taken away by looking.
func (m *mender) lock(ctx context.Context) error {
	path := filepath.Join(m.opt.Dir, filepath.FromSlash(event.MainRef)+".lock")
	_, before := m.opt.FS.Lstat(path)
	left, err := m.store.LeftLock(ctx, event.MainRef)
	switch {
	case err != nil:
		return err
	case left != "":
		m.add("the lock file "+left+" stands in the way of every save", "", "if no git program runs in the repository, delete the file")
	case before == nil:
		m.add("a process that was killed had left the lock file "+path, "it was taken away", "")
	}
	return nil
}

// objects mends the files that objects are stored in.
func (m *mender) objects(ctx context.Context) error {
	damages, err := m.store.MendObjects(ctx, m.opt.Deep)
	for _, d := range damages {
		what := d.File + ": " + d.Err.Error()
		next := "nothing was removed; " + m.elsewhere()
		if len(d.Lost) > 0 {
			what += fmt.Sprintf(" (%d objects have no other copy here)", len(d.Lost))
		}
		if d.Mended == "" {
			m.lacking = true
		}
		m.add(what, d.Mended, next)
	}
	return err
}

// elsewhere is what to do for objects that are not here.
func (m *mender) elsewhere() string {
	return "put the file back from a backup, or add a remote that has this space and run cairn doctor again"
}

// head puts back a HEAD that is missing or garbled: in our repositories it has
// never pointed anywhere else. One that somebody detached is for them to judge.
func (m *mender) head(context.Context) error {
	garbled, err := m.store.HeadIsGarbled()
	if err != nil || !garbled {
		return err
	}
	if err := m.store.SetHead(event.MainRef); err != nil {
		return err
	}
	m.add("HEAD was missing or held no branch", "it points to "+event.MainRef+" again", "")
	return nil
}

// otherRefs names refs that cannot be read. One that only says where a remote
// was is taken away: the next sync makes it again. What any other should be
// nobody here knows.
func (m *mender) otherRefs(context.Context) error {
	_, garbled, err := m.store.IntactRefs()
	if err != nil {
		return err
	}
	for _, g := range garbled {
		switch {
		case g.Name == event.MainRef:
		case strings.HasPrefix(g.Name, "refs/remotes/"):
			if err := m.store.RemoveGarbledRef(g.Name); err != nil {
				return err
			}
			m.add(g.Error(), "it was taken away; the next sync makes it again", "")
		default:
			m.add(g.Error(), "", m.setAnew(g))
		}
	}
	return nil
}

// strays takes away the refs that say a remote was at a commit that is not here,
// once nothing else is missing. Until then they say what could be fetched.
func (m *mender) strays(context.Context) error {
	if !m.opt.Deep || m.lacking {
		return nil
	}
	refs, _, err := m.store.IntactRefs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if !strings.HasPrefix(name, "refs/remotes/") {
			continue
		}
		has, err := m.store.Has(refs[name])
		if err == nil && has {
			continue
		}
		if err == nil {
			err = m.store.DeleteRef(name, refs[name])
		}
		if err != nil {
			return err
		}
		m.add(name+" leads to commit "+refs[name].String()+", which is not here", "it was taken away; the next sync makes it again", "")
	}
	return nil
}

// setAnew is what a person does about a ref that is garbled.
func (m *mender) setAnew(g *gitstore.GarbledRefError) string {
	switch g.Name {
	case "packed-refs":
		return fmt.Sprintf("put the file %s back from a backup; if there is none, delete line %d and see with git -C %s for-each-ref what is missing", g.Path, g.Line, m.opt.Dir)
	case eventlog.EpochRef:
		return "it says what was purged, so nothing is synced without it: delete " + g.Path + ", then give it the hub's value: git -C " + m.opt.Dir + " fetch HUB +" + g.Name + ":" + g.Name
	}
	return "delete " + g.Path + "; if somebody needs the ref: git -C " + m.opt.Dir + " update-ref " + g.Name + " COMMIT"
}

// history finds objects that the branch needs and that are not there: at least
// those without which nothing works, and all of them if it looks deep.
func (m *mender) history(ctx context.Context) error {
	head, err := m.store.Ref(event.MainRef)
	if err != nil {
		if isRefDamage(err) {
			return nil // said already
		}
		return err
	}
	w := walk{store: m.store, all: m.opt.Deep}
	if err := w.from(ctx, head); err != nil {
		return err
	}
	if len(w.lost) == 0 {
		return nil
	}
	m.lacking = true
	m.add(describe(w.lost), "", "nothing was changed; "+m.elsewhere())
	return nil
}

// maxNamed is how many objects a finding names.
const maxNamed = 3

func describe(lost []loss) string {
	var names []string
	for _, l := range lost[:min(len(lost), maxNamed)] {
		names = append(names, l.String())
	}
	what := fmt.Sprintf("%d objects of the history are missing or damaged: %s", len(lost), strings.Join(names, ", "))
	if len(lost) > maxNamed {
		what += ", …"
	}
	return what
}
