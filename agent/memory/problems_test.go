package memory_test

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/memory"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

// Whatever is wrong with the disk or the repository has a code that stays and
// says what to do; and what the disk does not give out is not called damaged.
func TestTroubleBelowSaysWhatToDo(t *testing.T) {
	t.Parallel()
	at := func(err error) error {
		return fmt.Errorf("store 4 objects: %w", &fs.PathError{Op: "write", Path: "pack", Err: err})
	}
	cases := map[problem.Code][]error{
		problem.Failed:     {at(fs.ErrPermission)},
		problem.Corrupt:    {&eventlog.IncompleteError{Err: plumbing.ErrObjectNotFound}, plumbing.ErrObjectNotFound, eventlog.ErrUnborn, &eventlog.CorruptError{Err: errors.New("x")}},
		problem.Foreign:    {&gitstore.ForeignFormatError{}, gitstore.ErrNotRepository},
		problem.GarbledRef: {&gitstore.GarbledRefError{}},
		problem.Busy:       {&gitstore.RefLockedError{}},
	}
	if runtime.GOOS != "windows" {
		cases[problem.Failed] = append(cases[problem.Failed], at(syscall.ENOSPC), at(syscall.EROFS), at(syscall.EACCES))
	}
	for code, errs := range cases {
		for _, err := range errs {
			p := problem.Of(memory.Problem(err))
			if p.Code != code || p.Hint == "" {
				t.Errorf("%v is told as %q with the hint %q", err, p.Code, p.Hint)
			}
		}
	}
	if p := problem.Of(memory.Problem(at(errors.New("input/output error")))); p.Code != problem.Failed || strings.Contains(p.Hint, "space") {
		t.Errorf("an error of the disk is told as %+v", p)
	}
}
