package gitstore_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/faultfs"
)

func still(yes bool) func() (bool, error) { return func() (bool, error) { return yes, nil } }

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// Whichever operation fails, the file is the former one or the new one, and no
// other is left beside it.
func TestACommitGraphIsReplacedWholeOrNotAtAll(t *testing.T) {
	for n := 1; ; n++ {
		f := newFaulty(t)
		if err := f.store.SetCommitGraph(t.Context(), writing("former"), still(true)); err != nil {
			t.Fatal(err)
		}
		f.fs.FailAt(n)
		failed := f.store.SetCommitGraph(t.Context(), writing("the new one"), still(true))
		f.fs.FailAt(0)
		want := "the new one"
		if failed != nil {
			want = "former"
			if !errors.Is(failed, faultfs.ErrInjected) {
				t.Fatalf("operation %d: %v", n, failed)
			}
		}
		got, err := f.store.CommitGraph()
		if err != nil || string(got) != want {
			t.Fatalf("operation %d: the file is %q, want %q, %v", n, got, want, err)
		}
		entries, err := os.ReadDir(filepath.Join(f.store.Dir(), "objects", "info"))
		if err != nil || len(entries) != 1 {
			t.Fatalf("operation %d: left behind %v, %v", n, entries, err)
		}
		if failed == nil {
			break
		}
	}
}

func TestACommitGraphOfWhatIsGoneIsNotKept(t *testing.T) {
	s := newStore(t)
	if got, err := s.CommitGraph(); err != nil || got != nil {
		t.Errorf("a new repository has the file %q, %v", got, err)
	}
	if err := s.SetCommitGraph(t.Context(), writing("x"), still(false)); err != nil {
		t.Error(err)
	}
	own := errors.New("out of order")
	if err := s.SetCommitGraph(t.Context(), func(io.Writer) error { return own }, still(true)); !errors.Is(err, own) {
		t.Errorf("the writer's failure became %v", err)
	}
	if got, err := s.CommitGraph(); err != nil || got != nil {
		t.Errorf("the file is there: %q, %v", got, err)
	}
}
