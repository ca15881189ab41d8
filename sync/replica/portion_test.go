package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/sync/gitstore"
)

// A narrow remote takes so many commits in one push and no more.
type narrow struct {
	*pathRemote
	most   int
	pushes []int // commits of each that was taken
}

func (n *narrow) Push(ctx context.Context, o Offer) (Pushed, error) {
	next := o.Next
	o.Next = func(ctx context.Context, to Taker) (Portion, error) {
		p, err := next(ctx, to)
		if err == nil && p.Commits > n.most {
			return p, &tooMuchError{"too many"}
		}
		return p, err
	}
	return Pushed{}, n.with(o.Met, true, func(s *gitstore.Store) error {
		return inPortions(func(most int) (Portion, error) {
			p, err := n.pushNext(ctx, s, o, most)
			if err == nil {
				n.pushes = append(n.pushes, p.Commits)
			}
			return p, err
		})
	})
}

// However little a remote takes at once, all of a history arrives.
func TestAHistoryGoesOverInPortionsOfAnySize(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			fsys := disktest.Unsynced(disk.OS)
			wide := Path(fsys, filepath.Join(t.TempDir(), "shared.git"))
			thin := &narrow{pathRemote: wide.(*pathRemote), most: 1 + r.IntN(6)}
			a, b := newMachineOn(t, fsys, thin), newMachineOn(t, fsys, wide)
			for range 3 {
				for range 5 + r.IntN(20) {
					a.save(fmt.Sprint("a ", r.Uint64()))
				}
				a.sync()
				b.sync()
				b.save(fmt.Sprint("b ", r.Uint64()))
				b.sync()
				a.sync()
			}
			if !slices.Equal(a.texts(), b.texts()) {
				t.Errorf("%d and %d events", len(a.texts()), len(b.texts()))
			}
			if slices.Max(thin.pushes) > thin.most || len(thin.pushes) < 3 {
				t.Errorf("pushes of %v commits, at most %d are taken", thin.pushes, thin.most)
			}
		})
	}
}

// A repository that joins nothing by itself gets branches that were joined here
// in one piece: its own branch must only ever move forward.
func TestAPlainRemoteOnlyMovesForward(t *testing.T) {
	wide := Path(disk.OS, filepath.Join(t.TempDir(), "shared.git"))
	thin := &narrow{pathRemote: wide.(*pathRemote), most: 5}
	a, b := newMachine(t, thin), newMachine(t, wide)
	a.save("first")
	a.sync()
	b.sync()
	for i := range 8 {
		a.save(fmt.Sprint("a ", i))
	}
	b.save("b")
	b.sync()
	if _, err := a.Pull(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, err := a.Push(context.Background())
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Errorf("nine commits in one piece, of which five are taken: %v", err)
	}
	thin.most = 9
	a.sync()
	b.sync()
	if a.head() != b.head() || len(b.texts()) != 10 {
		t.Errorf("the machines are not level: %d and %d events", len(a.texts()), len(b.texts()))
	}
}

// A single commit that is too much for the remote cannot be made smaller.
func TestWhatCannotBeMadeSmallerIsRefused(t *testing.T) {
	thin := &narrow{pathRemote: Path(disk.OS, filepath.Join(t.TempDir(), "shared.git")).(*pathRemote)}
	a := newMachine(t, thin)
	a.save("one")
	_, err := a.Push(context.Background())
	if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Message != "too many" {
		t.Errorf("the push ended with %v", err)
	}
	a.has("one")
}

// Two long branches side by side go over in portions too.
func TestPortionsOfParallelBranchesStaySmall(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "shared.git")
	a, b := newMachine(t, Path(disk.OS, shared)), newMachine(t, Path(disk.OS, shared))
	a.save("first")
	a.sync()
	b.sync()
	for i := range 20 {
		a.save(fmt.Sprint("a ", i))
		b.save(fmt.Sprint("b ", i))
	}
	b.sync()
	if _, err := a.Pull(context.Background()); err != nil {
		t.Fatal(err)
	}
	var haves []plumbing.Hash
	tip := a.head()
	for n := 1; ; n++ {
		p, err := a.portion(context.Background(), tip, Taker{Haves: haves, Most: 4})
		if err != nil || p.Commits < 1 || p.Commits > 4 || n > 43 {
			t.Fatalf("portion %d has %d commits, %v", n, p.Commits, err)
		}
		haves = append(haves, p.Tip)
		if p.Last {
			break
		}
	}
	if haves[len(haves)-1] != tip {
		t.Error("the last portion does not end in the tip")
	}
}
