package gittree_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// bigLog is the tree of a hundred thousand notes, forty an hour.
func bigLog(b *testing.B) (*gittreetest.Store, plumbing.Hash, string) {
	s := gittreetest.New()
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	blob := s.Blob("text")
	var files []gittree.File
	var newest string
	for i := range 100_000 {
		at := start.Add(time.Duration(i) * 90 * time.Second)
		newest = at.Format("events/2006-01/02/15/") + fmt.Sprintf("%026d", i)
		files = append(files, gittree.File{Path: newest + ".json", Blob: blob})
	}
	root, made, err := gittree.InsertMany(s, plumbing.ZeroHash, files)
	if err != nil {
		b.Fatal(err)
	}
	s.Put(made...)
	return s, root, newest + "x.json"
}

func BenchmarkInsertInto100k(b *testing.B) {
	s, root, path := bigLog(b)
	for b.Loop() {
		if _, _, err := gittree.Insert(s, root, path, s.Blob("new")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiffOneChangeIn100k(b *testing.B) {
	s, root, path := bigLog(b)
	after, made, err := gittree.Insert(s, root, path, s.Blob("new"))
	if err != nil {
		b.Fatal(err)
	}
	s.Put(made...)
	for b.Loop() {
		changes := 0
		if err := gittree.Diff(s, root, after, func(gittree.Change) error { changes++; return nil }); err != nil || changes != 1 {
			b.Fatal(changes, err)
		}
	}
}

func BenchmarkWalk100k(b *testing.B) {
	s, root, _ := bigLog(b)
	for b.Loop() {
		if err := gittree.Walk(s, root, func(string, plumbing.Hash) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
