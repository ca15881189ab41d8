package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// A pushed is a repository and a quarantine such as git's receive-pack makes.
type pushed struct {
	t  *testing.T
	at gitstore.Places
}

func newPushed(t *testing.T) *pushed {
	t.Helper()
	s := newStore(t)
	p := &pushed{t, gitstore.Places{Repo: s.Dir(), Quarantine: filepath.Join(s.Dir(), "objects", "tmp_objdir-incoming-test")}}
	if err := os.MkdirAll(filepath.Join(p.at.Quarantine, "pack"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// write puts a file into quarantine.
func (p *pushed) write(name string, content []byte) {
	p.t.Helper()
	path := filepath.Join(p.at.Quarantine, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pushed) loose(o gitstore.Object) {
	id := o.Hash.String()
	head := o.Type.String() + " " + strconv.Itoa(len(o.Data)) + "\x00"
	p.write(id[:2]+"/"+id[2:], deflated(append([]byte(head), o.Data...)))
}

// pack puts a pack into quarantine, indexed by git.
func (p *pushed) pack(name string, entries ...rawEntry) {
	p.write("pack/"+name+".pack", encodePack(entries))
	base := filepath.Join(p.at.Quarantine, "pack", name)
	git(p.t, p.at.Repo, "index-pack", "-o", base+".idx", base+".pack")
}

func (p *pushed) open(lim gitstore.Limits) (*gitstore.Inbox, error) {
	b, err := gitstore.OpenInbox(context.Background(), disk.OS, p.at, lim)
	if err == nil {
		p.t.Cleanup(func() {
			if err := b.Close(); err != nil {
				p.t.Error(err)
			}
		})
	}
	return b, err
}

func ids(t *testing.T, b *gitstore.Inbox) (list []string) {
	t.Helper()
	numbers := map[int]bool{}
	err := b.Each(context.Background(), func(o gitstore.Object) error {
		list = append(list, o.Hash.String())
		n, ok := b.Number(o.Hash)
		if !ok || numbers[n] || n < 0 || n > 100 {
			t.Errorf("object %s has the number %d, %v", o.Hash, n, ok)
		}
		numbers[n] = true
		mustObject(t, b, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func names(objects ...gitstore.Object) (list []string) {
	for _, o := range objects {
		list = append(list, o.Hash.String())
	}
	slices.Sort(list)
	return list
}

func storeAt(t *testing.T, dir string, objects ...gitstore.Object) {
	t.Helper()
	s := openStore(t, dir)
	if _, err := s.WritePack(objects); err != nil {
		t.Fatal(err)
	}
}

func TestAnInboxHoldsWhatArrivedAndNoMore(t *testing.T) {
	t.Parallel()
	p := newPushed(t)
	base := bytes.Repeat([]byte("b"), kib64)
	stored, lent, alone := blob("stored before"), blob("lent by another"), blob("loose")
	whole1 := gitstore.NewObject(plumbing.BlobObject, base)
	grown := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), "tail"...))
	storeAt(t, p.at.Repo, stored)
	lender, lenders := newStore(t), newStore(t)
	storeAt(t, lender.Dir(), lent)
	p.at.Stored = []string{filepath.Join(p.at.Repo, "objects"), filepath.Join(lenders.Dir(), "objects")}
	way, err := filepath.Rel(filepath.Join(lenders.Dir(), "objects"), filepath.Join(lender.Dir(), "objects"))
	if err == nil {
		err = os.WriteFile(filepath.Join(lenders.Dir(), "objects", "info", "alternates"), []byte("# by way of another\n"+filepath.ToSlash(way)+"\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.loose(alone)
	p.pack("one", whole(base), ofsDelta(1, appendingDelta(kib64, "tail")), whole(stored.Data), whole(alone.Data))
	p.pack("two", whole(grown.Data), whole(lent.Data))

	b, err := p.open(gitstore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ids(t, b), names(alone, whole1, grown); !slices.Equal(got, want) {
		t.Errorf("arrived:\n%v, want\n%v", got, want)
	}
	for _, o := range []gitstore.Object{stored, lent, alone, whole1, grown} {
		mustObject(t, b, o)
		mustHave(t, b, o.Hash, true)
	}
	mustHave(t, b, blob("nowhere").Hash, false)
	b.Include(stored.Hash, grown.Hash)
	if got, want := ids(t, b), names(alone, whole1, grown, stored); !slices.Equal(got, want) {
		t.Errorf("with one included:\n%v, want\n%v", got, want)
	}
}

func TestAnInboxIsWithinLimits(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("b"), kib64)
	for name, lim := range map[string]gitstore.Limits{
		"bytes of packs": {Bytes: 50}, "objects": {Objects: 4}, "size": {ObjectSize: kib64 - 1},
		"size by delta": {ObjectSize: kib64 + 3}, "all of one pack": {Inflated: 2 * kib64},
		"all": {Inflated: 3*kib64 + 4}, "depth": {Depth: 1},
	} {
		p := newPushed(t)
		p.loose(gitstore.NewObject(plumbing.BlobObject, bytes.Repeat([]byte("c"), kib64/2)))
		p.pack("one", whole(base), ofsDelta(1, appendingDelta(kib64, "tail")), ofsDelta(1, appendingDelta(kib64+4, "more")))
		p.pack("two", whole([]byte("small")))
		if _, err := p.open(gitstore.Limits{}); err != nil {
			t.Fatal(err)
		}
		_, err := p.open(lim)
		if _, ok := errors.AsType[*gitstore.LimitError](err); !ok {
			t.Errorf("%s: got %v, want a LimitError", name, err)
		}
	}
	p := newPushed(t)
	p.loose(gitstore.NewObject(plumbing.BlobObject, base))
	_, err := p.open(gitstore.Limits{ObjectSize: kib64 - 1})
	if _, ok := errors.AsType[*gitstore.LimitError](err); !ok {
		t.Errorf("loose: got %v, want a LimitError", err)
	}
}

func TestWhatGitWouldNotPutIntoQuarantineIsRefused(t *testing.T) {
	t.Parallel()
	good := encodePack([]rawEntry{whole([]byte("x"))})
	for name, put := range map[string]func(p *pushed){
		"a file beside the folders": func(p *pushed) { p.write("note", nil) },
		"a pack without an index":   func(p *pushed) { p.write("pack/one.pack", good) },
		"an index without a pack":   func(p *pushed) { p.write("pack/one.idx", oneEntryIndex(blob("x").Hash, good)) },
		"another file of a pack":    func(p *pushed) { p.write("pack/one.pack.old", good) },
		"another file":              func(p *pushed) { p.write("ab/note", nil) },
		"another folder":            func(p *pushed) { p.write("info/alternates", nil) },
		"a link": func(p *pushed) {
			if err := os.Symlink(p.at.Repo, filepath.Join(p.at.Quarantine, "ab")); err != nil {
				p.t.Skip("SKIPPED: no links here: ", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPushed(t)
			put(p)
			_, err := p.open(gitstore.Limits{})
			if _, ok := errors.AsType[*gitstore.ForeignFormatError](err); !ok {
				t.Errorf("got %v, want a ForeignFormatError", err)
			}
		})
	}
}

func TestAnInboxDoesNotTrustItsFiles(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(p *pushed){
		"more after the pack": func(p *pushed) {
			p.pack("one", whole([]byte("x")))
			p.write("pack/one.pack", append(encodePack([]rawEntry{whole([]byte("x"))}), "more"...))
		},
		"a flipped byte": func(p *pushed) {
			p.pack("one", whole([]byte("x")))
			p.write("pack/one.pack", flip(encodePack([]rawEntry{whole([]byte("x"))}), 14))
		},
		"a loose object under another's name": func(p *pushed) {
			o := blob("one")
			o.Hash = blob("two").Hash
			p.loose(o)
		},
		"a loose object that is none": func(p *pushed) {
			p.write("ab/"+blob("x").Hash.String()[2:], []byte("not compressed"))
		},
	} {
		p := newPushed(t)
		put(p)
		b, err := p.open(gitstore.Limits{})
		if err == nil {
			err = b.Each(context.Background(), func(gitstore.Object) error { return nil })
		}
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
