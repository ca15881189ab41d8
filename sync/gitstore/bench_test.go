package gitstore_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// BenchmarkAppend is one durable append: a pack of a commit, two trees and a file, and the ref. BenchmarkFsync is the
// least that durability costs on the same disk.
func BenchmarkAppend(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "repo.git")
	if err := gitstore.Init(disk.OS, dir); err != nil {
		b.Fatal(err)
	}
	s, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	n := 0
	for b.Loop() {
		n++
		if _, err := appendOne(s, fmt.Sprintf("note %d, with about as much text as a note has: %0800d", n, n)); err != nil {
			b.Fatal(err)
		}
		if n%256 == 0 {
			b.StopTimer()
			if _, err := s.Compact(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}

func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := bytes.Repeat([]byte{'x'}, 1500)
	for b.Loop() {
		if _, err := f.WriteAt(block, 0); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// manyObjects returns a repository of n objects in one pack.
func manyObjects(b *testing.B, n int) (dir string, some plumbing.Hash) {
	b.Helper()
	s := newStore(b)
	objs := make([]gitstore.Object, n)
	for i := range objs {
		objs[i] = blob(fmt.Sprintf("object %d", i))
	}
	if _, err := s.WritePack(objs); err != nil {
		b.Fatal(err)
	}
	return s.Dir(), objs[n/2].Hash
}

// BenchmarkOpen opens a repository and reads one object, at 1,000 and at 800,000 objects.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 800_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, some := manyObjects(b, n)
			b.ReportAllocs()
			for b.Loop() {
				s, err := gitstore.Open(disk.OS, dir)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Object(some); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reads the objects of a pack one after the other, in the order of the pack.
func BenchmarkRead(b *testing.B) {
	s := newStore(b)
	objs := make([]gitstore.Object, 20_000)
	for i := range objs {
		objs[i] = blob(fmt.Sprintf("object %d of about the size of a note: %0900d", i, i))
	}
	if _, err := s.WritePack(objs); err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		if _, err := s.Object(objs[i%len(objs)].Hash); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkReceive takes in a push of one commit.
func BenchmarkReceive(b *testing.B) {
	s := newStore(b)
	pack := packWith(b, commitOf("pushed")...)
	for b.Loop() {
		q, err := s.Quarantine()
		if err != nil {
			b.Fatal(err)
		}
		if err := q.Receive(b.Context(), bytes.NewReader(pack), gitstore.Limits{}); err != nil {
			b.Fatal(err)
		}
		if err := q.Discard(); err != nil {
			b.Fatal(err)
		}
	}
}
