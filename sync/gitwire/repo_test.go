package gitwire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/gitwire"
	"cairn/sync/history"
)

// repo is a repository in memory that serves and takes pushes, with go-git making and reading the packs.
type repo struct {
	*history.Graph

	mu      sync.Mutex
	objects *memory.Storage
	refs    map[string]plumbing.Hash
	head    string
	options []string // of the last push
	sent    int      // objects in the last pack
}

func newRepo() *repo {
	r := &repo{objects: memory.NewStorage(), refs: make(map[string]plumbing.Hash), head: "refs/heads/main"}
	r.Graph = history.New(r)
	return r
}

func (r *repo) Object(h plumbing.Hash) (gitstore.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.objects.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return gitstore.Object{}, err
	}
	in, err := o.Reader()
	if err != nil {
		return gitstore.Object{}, err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	return gitstore.Object{Type: o.Type(), Hash: h, Data: data}, err
}

func (r *repo) put(objects ...gitstore.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range objects {
		m := &plumbing.MemoryObject{}
		m.SetType(o.Type)
		if _, err := m.Write(o.Data); err != nil {
			panic(err) // memory
		}
		if _, err := r.objects.SetEncodedObject(m); err != nil {
			panic(err)
		}
	}
}

// commit adds a file on top of main and returns the new head.
func (r *repo) commit(t *testing.T, path string) plumbing.Hash {
	t.Helper()
	var tree plumbing.Hash
	parent := ""
	if main := r.main(); !main.IsZero() {
		c, err := history.ReadCommit(r, main)
		if err != nil {
			t.Fatal(err)
		}
		tree, parent = c.Tree, "parent "+main.String()+"\n"
	}
	blob := gitstore.NewObject(plumbing.BlobObject, []byte("text of "+path))
	tree, made, err := gittree.Insert(r, tree, path, blob.Hash)
	if err != nil {
		t.Fatal(err)
	}
	raw := fmt.Sprintf("tree %s\n%sauthor a <a@b.invalid> 1 +0000\ncommitter a <a@b.invalid> 1 +0000\n\nadd a file\n", tree, parent)
	c := gitstore.NewObject(plumbing.CommitObject, []byte(raw))
	r.put(append(made, blob, c)...)
	r.set(t, r.head, c.Hash)
	return c.Hash
}

func (r *repo) set(t *testing.T, ref string, h plumbing.Hash) {
	t.Helper()
	if err := r.Add(h); err != nil {
		t.Fatal(err)
	}
	r.move(ref, h)
}

func (r *repo) move(ref string, h plumbing.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refs[ref] = h
}

func (r *repo) main() plumbing.Hash {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refs[r.head]
}

func (r *repo) lastSent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

func (r *repo) keepOptions(options []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options = options
}

func (r *repo) lastOptions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.options
}

// Refs, Head and WritePack are the rest of a gitwire.UploadBackend.
func (r *repo) Refs() (map[string]plumbing.Hash, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.refs), nil
}

func (r *repo) Head() (string, error) { return r.head, nil }

func (r *repo) WritePack(ctx context.Context, w io.Writer, wants, haves []plumbing.Hash) error {
	ids, err := history.NewObjects(ctx, r, r.Graph, wants, haves)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = len(ids)
	_, err = packfile.NewEncoder(w, r.objects, false).Encode(ids, 10)
	return err
}

func (r *repo) readPack(in io.Reader) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := packfile.UpdateObjectStorage(r.objects, in)
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil
	}
	return err
}

// servePush is a small hub: main moves forward only, through refs/heads/main or refs/for/main; a file called secret is
// refused with messages.
func (r *repo) servePush(ctx context.Context, rw io.ReadWriter) error {
	refs, _ := r.Refs()
	if err := gitwire.Advertise(rw, refs, "", gitwire.PushCaps); err != nil {
		return err
	}
	req, err := gitwire.ReadPush(ctx, rw, gitwire.PushCaps)
	if err != nil {
		return errors.Join(err, gitwire.NewPushReply(rw, req).Fatal(err.Error()))
	}
	if len(req.Commands) == 0 {
		return nil
	}
	reply := gitwire.NewPushReply(rw, req)
	if req.HasPack() {
		if err := r.readPack(rw); err != nil {
			return errors.Join(err, reply.Fatal("bad pack"))
		}
	}
	r.keepOptions(req.Options)
	var results []gitwire.Result
	for _, c := range req.Commands {
		results = append(results, r.judge(reply, c))
	}
	return reply.Report("", results)
}

func (r *repo) judge(reply *gitwire.PushReply, c gitwire.Command) gitwire.Result {
	res := gitwire.Result{Ref: c.Ref}
	main := r.main()
	f := r.Fork(r)
	switch {
	case c.New.IsZero():
		res.Reason = "nothing is deleted here"
	case c.Ref != "refs/heads/main" && c.Ref != "refs/for/main":
		res.Reason = "push to refs/for/main"
	case f.Add(c.New) != nil:
		res.Reason = "missing objects"
	default:
		res.Reason = r.judgeCommit(reply, f, main, c.New)
	}
	if res.Reason == "" && r.Add(c.New) == nil {
		r.move("refs/heads/main", c.New)
		res.Landed = &gitwire.Command{Old: main, New: c.New, Ref: "refs/heads/main"}
	}
	return res
}

func (r *repo) judgeCommit(reply *gitwire.PushReply, g *history.Graph, main, tip plumbing.Hash) string {
	if ff, err := g.Ancestor(main, tip); !main.IsZero() && (!ff || err != nil) {
		return "not a fast-forward"
	}
	tree, err := g.Tree(tip)
	if err != nil {
		return err.Error()
	}
	reason := ""
	err = gittree.Walk(r, tree, func(path string, _ plumbing.Hash) error {
		if strings.HasSuffix(path, "secret") {
			reply.Message("a secret is in\n" + path)
			reason = "see above"
		}
		return nil
	})
	if err != nil {
		return "malformed tree"
	}
	return reason
}
