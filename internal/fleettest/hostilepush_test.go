package fleettest_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/ed25519"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/secrets/secretstest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/history"
)

// secretPush pushes what cairn itself would have made, signed with the member's key, but for the secret in it.
func secretPush(ctx context.Context, e *foe) error {
	r := rand.New(rand.NewPCG(1, 2))
	return e.pushNote(ctx, hostileMark+" the key is "+secretstest.Generate(secretstest.Rules()[0], r))
}

// pushNote pushes a note of the member's own. The error is errBreached if it is taken.
func (e *foe) pushNote(ctx context.Context, text string) error {
	dir := filepath.Join(e.dir, "clone.git")
	if e.tip.IsZero() {
		if err := e.clone(ctx, dir); err != nil {
			return err
		}
		if err := e.save(ctx, dir, text); err != nil {
			return err
		}
	}
	t, ad, err := e.greeted(ctx, "git-receive-pack 'team'")
	if err != nil {
		return err
	}
	defer t.Close()
	store, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		return err
	}
	defer store.Close()
	graph := history.New(store)
	if err := graph.Add(e.tip); err != nil {
		return err
	}
	ids, err := history.NewObjects(ctx, store, graph, []plumbing.Hash{e.tip}, graph.Sample([]plumbing.Hash{e.tip}, 32)[1:])
	if err != nil {
		return err
	}
	_, err = gitwire.Push(ctx, t, ad, gitwire.Command{New: e.tip, Ref: "refs/for/main"}, gitwire.PushOptions{
		WritePack: func(w io.Writer) error { return store.EncodePack(w, ids) },
	})
	if err == nil {
		return errBreached
	}
	return err
}

// clone brings the space of the team over.
func (e *foe) clone(ctx context.Context, dir string) error {
	t, ad, err := e.greeted(ctx, "git-upload-pack 'team'")
	if err != nil {
		return err
	}
	defer t.Close()
	head := ad.Refs[event.MainRef]
	pack, err := gitwire.Fetch(ctx, t, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{head}})
	if err == nil {
		err = gitstore.Init(disk.OS, dir)
	}
	if err != nil {
		return err
	}
	store, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		return err
	}
	q, err := store.Quarantine()
	if err == nil {
		err = errors.Join(q.Receive(ctx, pack, gitstore.Limits{}), q.Publish(), store.UpdateRef(event.MainRef, plumbing.ZeroHash, head))
	}
	return errors.Join(err, store.Close())
}

// save adds a note to the clone.
func (e *foe) save(ctx context.Context, dir, text string) error {
	n := eventtest.Note(text)
	n.Space, n.Classification = "team", event.Public
	n.Actor.Device = event.DeviceOf(e.key.Public().(ed25519.PublicKey))
	signed, err := event.Sign(n, e.key)
	if err != nil {
		return err
	}
	l, err := eventlog.Open(disk.OS, dir, "team")
	if err != nil {
		return err
	}
	_, err = l.Append(ctx, func(eventlog.Head) ([]event.Event, error) { return []event.Event{signed}, nil })
	if err == nil {
		var head eventlog.Head
		head, err = l.Head()
		e.tip = head.Commit
	}
	return errors.Join(err, l.Close())
}

// bomb is a pack of a few kilobytes that unpacks to n times 64 KiB.
func bomb(n int) []byte {
	base := bytes.Repeat([]byte(hostileMark)[:8], 1<<13)
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(n*len(base)))
	delta = append(delta, bytes.Repeat([]byte{0x80}, n)...) // each copies 64 KiB
	pack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	pack = appendEntry(pack, plumbing.BlobObject, nil, base)
	id := plumbing.ComputeHash(plumbing.BlobObject, base)
	pack = appendEntry(pack, plumbing.REFDeltaObject, id[:], delta)
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

func appendEntry(pack []byte, kind plumbing.ObjectType, base, data []byte) []byte {
	size := len(data)
	head := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(data) // into memory
	_ = z.Close()
	return append(append(append(pack, head...), base...), packed.Bytes()...)
}
