package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/blugelabs/bluge/index"

	"cairn/internal/event"
	"cairn/search/segfile"
)

// Apply takes in one step: notes, deletions and the mark of their space, all
// or nothing. Searches that begin after it returns see it. It is written to
// disk shortly afterwards, before any later step; Close waits for that.
//
// A step of some thousand notes is the most that is sensible; to begin from
// nothing use Rebuild. If ctx ends before the step is complete nothing is
// changed and the error is that of ctx.
func (x *Index) Apply(ctx context.Context, b Batch) error {
	if err := checkBatch(b); err != nil {
		return err
	}
	return x.step(b.Space, func(out *index.Batch) error {
		if err := addNotes(ctx, out, b); err != nil {
			return err
		}
		out.Update(key(markKey(b.Space)), markDocument(b.Space, b.Mark))
		return nil
	})
}

// DropSpace removes all notes of a space and its mark, all or nothing. A space
// that is not there is no error.
func (x *Index) DropSpace(ctx context.Context, space string) error {
	return x.step(space, func(out *index.Batch) error {
		out.Delete(key(markKey(space)))
		return x.withView(func(v *view) error {
			return v.ids(ctx, space, func(id event.ID) error {
				out.Delete(key(noteKey(space, id)))
				return nil
			})
		})
	})
}

// Compact rewrites the index as one segment. Searches are fastest then, and
// what was deleted has left the disk. It takes as long as reading and writing
// the whole index; the Index can be used meanwhile.
func (x *Index) Compact(ctx context.Context) (err error) {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	defer x.health.watch(&err)
	err = x.writer.compact(ctx, x.touch)
	if damaged := x.health.err(); err != nil && damaged != nil {
		return damaged
	}
	return err
}

// HasRemoved says whether files of the index still hold notes that were removed
// from it. Compact ends that.
func (x *Index) HasRemoved() (has bool, err error) {
	err = x.read(func(v *view) error { has = v.hasRemoved(); return nil })
	return has, err
}

// touch writes the marks again as they are.
func (x *Index) touch() error {
	x.applying.Lock()
	defer x.applying.Unlock()
	out := index.NewBatch()
	err := x.withView(func(v *view) error {
		return v.marks(func(space string, m Mark) { out.Update(key(markKey(space)), markDocument(space, m)) })
	})
	if err != nil {
		return err
	}
	return x.writer.apply(out)
}

// step fills a batch and gives it to Bluge.
func (x *Index) step(space string, fill func(*index.Batch) error) (err error) {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	x.applying.Lock()
	defer x.applying.Unlock()
	defer x.health.watch(&err)
	if name, err := x.home.current(); err != nil {
		return err
	} else if name != x.generation {
		return ErrReplaced
	}
	out := index.NewBatch()
	if err := fill(out); err != nil {
		return err
	}
	err = x.writer.apply(out)
	if errors.Is(err, segfile.ErrDamaged) {
		err = &DamagedError{Dir: x.home.dir, Err: err}
	}
	if err != nil {
		return fmt.Errorf("apply a step of %s to the search index: %w", space, err)
	}
	return nil
}

func addNotes(ctx context.Context, out *index.Batch, b Batch) error {
	last := map[event.ID]int{} // Bluge would keep both of two notes with one key
	for i := range b.Put {
		last[b.Put[i].ID] = i
	}
	for _, id := range b.Delete {
		if _, ok := last[id]; !ok {
			out.Delete(key(noteKey(b.Space, id)))
		}
	}
	maker := newDocumentMaker()
	for i := range b.Put {
		d := &b.Put[i]
		if last[d.ID] != i {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("apply a step of %s to the search index: %w", b.Space, err)
		}
		out.Update(key(noteKey(b.Space, d.ID)), maker.document(b.Space, d))
	}
	return nil
}
