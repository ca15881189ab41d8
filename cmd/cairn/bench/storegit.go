package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cairn/internal/commitform"
	"cairn/internal/event"
)

// besideBranch is where git appends in a repository that go-git appends to.
const besideBranch = "refs/heads/beside"

// fastImport appends an event to besideBranch with one process of git, which is
// the least that stock git needs for it.
func (g *gitProgram) fastImport(ctx context.Context, dir string, e event.Event, file []byte) (gitRun, error) {
	var in bytes.Buffer
	h := commitform.HeadOf(e)
	fmt.Fprintf(&in, "commit %s\ncommitter %s <%s@cairn.invalid> %d +0000\n", besideBranch, h.Device, h.Device, e.ID.Time().Unix())
	message := fmt.Sprintf("%s: %s\n", h.Kind, h.ID)
	fmt.Fprintf(&in, "data %d\n%sfrom %s^0\nM 100644 inline %s\ndata %d\n%s\n", len(message), message, besideBranch, commitform.Path(e.ID), len(file), file)
	return g.run(ctx, &in, "-C", dir, "fast-import", "--quiet")
}

// contents reads every file of HEAD with cat-file, as a script would.
func (g *gitProgram) contents(ctx context.Context, dir string) (gitRun, error) {
	names, err := g.in(ctx, dir, "ls-tree", "-r", "--format=%(objectname)", "HEAD")
	if err != nil {
		return gitRun{}, err
	}
	in, err := os.CreateTemp(g.dir, "names-")
	if err != nil {
		return gitRun{}, err
	}
	defer in.Close()
	if _, err := io.WriteString(in, names.out); err != nil {
		return gitRun{}, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return gitRun{}, err
	}
	texts, err := g.run(ctx, in, "-C", dir, "cat-file", "--batch", "--buffer")
	if err != nil {
		return gitRun{}, err
	}
	texts.CPU += names.CPU
	texts.Wall += names.Wall
	return texts, os.Remove(in.Name())
}

// packBytes is how much the packs of a repository and their indexes take.
func packBytes(dir string) (int64, error) {
	var total int64
	for _, pattern := range []string{"*.pack", "*.idx"} {
		names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", pattern))
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				return 0, err
			}
			total += info.Size()
		}
	}
	return total, nil
}
