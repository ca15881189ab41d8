package search

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"

	"github.com/blugelabs/bluge/index"

	"cairn/internal/disk"
	"cairn/internal/event"
)

// Rebuild makes the index in dir anew, of what fill puts, and puts it in the
// place of the present one. Until then an Index that is open keeps answering;
// afterwards its Apply returns ErrReplaced, and it should be closed and opened
// again. If anything fails, or ctx ends, the present index stays.
//
// fill calls put as it would call Apply, with steps of any size, from one
// goroutine. Of a space the mark of the last step counts.
func Rebuild(ctx context.Context, dir string, fill func(put func(Batch) error) error) error {
	h := home{fsys: disk.OS, dir: dir}
	if err := rebuild(ctx, h, fill); err != nil {
		return fmt.Errorf("rebuild the search index: %w", err)
	}
	return nil
}

func rebuild(ctx context.Context, h home, fill func(put func(Batch) error) error) (err error) {
	if err := h.fsys.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	lock, err := lockHome(h, rebuildName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	name, err := h.create()
	if err != nil {
		return err
	}
	if err := build(ctx, h, name, fill); err != nil {
		return errors.Join(err, h.fsys.RemoveAll(h.path(name)))
	}
	return h.setCurrent(name)
}

func build(ctx context.Context, h home, name string, fill func(put func(Batch) error) error) (err error) {
	defer (&health{dir: h.dir}).watch(&err)
	w, err := openWriter(newDirectory(h.fsys, h.path(name)), Options{}, true)
	if err != nil {
		return err
	}
	b := newBuilder(ctx, w)
	err = errors.Join(fill(b.put), b.finish())
	if err == nil {
		err = w.compact(ctx, b.putMarks)
	}
	return errors.Join(err, w.close())
}

// A builder adds notes in chunks, several at a time.
type builder struct {
	ctx context.Context
	w   *writer

	marks map[string]Mark
	chunk chunk
	seen  map[uint64]bool // hashes of the keys that were put
	seed  maphash.Seed

	chunks     chan chunk
	segmenters []*segmenter // one for each worker
	workers    sync.WaitGroup
	running    sync.WaitGroup // chunks on their way

	mu  sync.Mutex
	err error // the first of a worker
}

// A chunk is notes that go to one worker.
type chunk struct {
	docs     []Doc
	bytes    int
	keys     map[string]int // where in docs
	replaced []string       // keys of notes that were put in an earlier one
}

// The size of a chunk.
const (
	chunkDocs  = 500
	chunkBytes = 4 << 20
)

// segmentsSize is about how much memory notes take until their segments are made:
// larger ones mean less to merge.
const segmentsSize = 80 << 20

func newBuilder(ctx context.Context, w *writer) *builder {
	b := &builder{
		ctx: ctx, w: w,
		marks: map[string]Mark{}, chunk: newChunk(),
		seen: map[uint64]bool{}, seed: maphash.MakeSeed(),
		chunks: make(chan chunk),
	}
	workers := min(runtime.GOMAXPROCS(0), 4)
	for range workers {
		s := newSegmenter(ctx, w, segmentsSize/workers)
		b.segmenters = append(b.segmenters, s)
		b.workers.Go(func() { b.work(s) })
	}
	return b
}

func newChunk() chunk { return chunk{keys: map[string]int{}} }

func (b *builder) put(batch Batch) error {
	if err := checkBatch(batch); err != nil {
		return err
	}
	b.marks[batch.Space] = batch.Mark
	for i := range batch.Put {
		if err := b.add(batch.Space, batch.Put[i]); err != nil {
			return err
		}
	}
	return b.remove(batch)
}

// add takes in one note. One that was put before is put again only when the
// former is in its place, so that it replaces it.
func (b *builder) add(space string, d Doc) error {
	d.Space = space
	k := noteKey(space, d.ID)
	if i, ok := b.chunk.keys[k]; ok {
		b.chunk.bytes -= len(b.chunk.docs[i].Title) + len(b.chunk.docs[i].Body)
		b.chunk.docs[i] = d
		return b.grown(d)
	}
	if sum := maphash.String(b.seed, k); b.seen[sum] {
		if err := b.settle(); err != nil {
			return err
		}
		b.chunk.replaced = append(b.chunk.replaced, k)
	} else {
		b.seen[sum] = true
	}
	b.chunk.keys[k] = len(b.chunk.docs)
	b.chunk.docs = append(b.chunk.docs, d)
	return b.grown(d)
}

// grown sends the chunk at hand, to which a note was added, if it is full.
func (b *builder) grown(d Doc) error {
	b.chunk.bytes += len(d.Title) + len(d.Body)
	if len(b.chunk.docs) >= chunkDocs || b.chunk.bytes >= chunkBytes {
		return b.send()
	}
	return nil
}

func (b *builder) remove(batch Batch) error {
	put := map[event.ID]bool{}
	for i := range batch.Put {
		put[batch.Put[i].ID] = true
	}
	out := index.NewBatch()
	n := 0
	for _, id := range batch.Delete {
		if !put[id] {
			out.Delete(key(noteKey(batch.Space, id)))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	if err := b.settle(); err != nil {
		return err
	}
	return b.w.apply(out)
}

func (b *builder) send() error {
	if err := errors.Join(b.ctx.Err(), b.failure()); err != nil {
		return err
	}
	if len(b.chunk.docs) > 0 {
		b.running.Add(1)
		b.chunks <- b.chunk
		b.chunk = newChunk()
	}
	return nil
}

// settle waits until everything put so far is in its place.
func (b *builder) settle() error {
	err := b.send()
	b.running.Wait()
	if err := errors.Join(err, b.failure()); err != nil {
		return err
	}
	var finishing sync.WaitGroup
	for _, s := range b.segmenters {
		finishing.Go(func() { b.fail(s.finish()) })
	}
	finishing.Wait()
	return b.failure()
}

// finish adds the marks and ends the workers.
func (b *builder) finish() error {
	err := b.settle()
	close(b.chunks)
	b.workers.Wait()
	b.segmenters = nil // what they hold is not needed for merging
	if err != nil {
		return err
	}
	return b.putMarks()
}

func (b *builder) putMarks() error {
	out := index.NewBatch()
	for space, m := range b.marks {
		out.Update(key(markKey(space)), markDocument(space, m))
	}
	return b.w.apply(out)
}

func (b *builder) work(s *segmenter) {
	for c := range b.chunks {
		if b.failure() == nil {
			b.fail(s.add(c))
		}
		b.running.Done()
	}
}

func (b *builder) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *builder) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}
