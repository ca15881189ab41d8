package memory

import (
	"context"
	"errors"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/search/embed"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/purge"
)

// Problem is err as whoever asked is told it, with the code and the hint for
// what lies below; nil for nil.
func Problem(err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p
	}
	if refused, ok := errors.AsType[*policy.RefusedError](err); ok {
		return refused.Problem()
	}
	p := &problem.Problem{Code: problem.Failed, Message: err.Error(), Err: err}
	for _, row := range table {
		if row.fits(err, p) {
			p.Code = row.code
			if p.Hint == "" {
				p.Hint = row.hint
			}
			break
		}
	}
	return p
}

// A row of the table of errors: what fits, what it is told as, what to do.
type row struct {
	fits func(error, *problem.Problem) bool
	code problem.Code
	hint string
}

const embedderHint = `put "embedder" in config.json or the file it names right, and run "cairn agent stop"; search by words works meanwhile`

// table goes from the particular to the general; the first row that fits
// counts.
var table = []row{
	{typed(func(e *event.InvalidError, p *problem.Problem) { p.Field = e.Field }), problem.Usage, ""},
	{typed(func(e *event.TooBigError, p *problem.Problem) { p.Field, p.Rule = e.Field, "size" }), problem.TooBig, "split it into several notes"},
	{typed(func(e *event.NotUTF8Error, p *problem.Problem) { p.Field, p.Rule = e.Field, "encoding" }), problem.NotUTF8, "convert it to UTF-8 first"},
	{typed[*event.NewerSchemaError](nil), problem.NewerSchema, "upgrade cairn"},
	{is(event.ErrNotCanonical), problem.Usage, "give the event exactly as it was exported"},
	{is(event.ErrBadSignature), problem.Policy, "take the event from a copy that nobody changed"},
	{is(event.ErrUnsigned), problem.Policy, "take the event from a copy that nobody changed"},

	{is(projection.ErrUnknown), problem.NotFound, "cairn log lists what there is"},
	{is(projection.ErrShort), problem.Usage, ""},
	{typed[*projection.AmbiguousError](nil), problem.Usage, ""},

	{is(gitstore.ErrDetached), problem.Detached, `run "git symbolic-ref HEAD refs/heads/main" in the space's repository`},
	{typed[*gitstore.GarbledRefError](nil), problem.GarbledRef, "run cairn doctor"},
	{is(gitstore.ErrShallow), problem.Shallow, `run "git fetch --unshallow" in the space's repository`},
	{is(gitstore.ErrPartialClone), problem.Shallow, "make a full clone"},
	{typed[*gitstore.ForeignFormatError](nil), problem.Foreign, "push its history into a plain bare repository and put that in its place"},
	{is(gitstore.ErrNotRepository), problem.Foreign, "run cairn doctor"},
	{typed[*gitstore.RefLockedError](nil), problem.Busy, "try again; if no git program is running, delete the file"},
	{is(commitform.ErrForeign), problem.Foreign, "run cairn doctor"},
	{typed[*commitform.NewerFormatError](nil), problem.NewerSchema, "upgrade cairn"},
	{typed[*eventlog.ForeignError](nil), problem.Foreign, "run cairn doctor"},
	{typed[*eventlog.CorruptError](nil), problem.Corrupt, "run cairn doctor"},
	{typed[*gitstore.CorruptError](nil), problem.Corrupt, "run cairn doctor"},
	{typed[*eventlog.IncompleteError](nil), problem.Corrupt, "run cairn doctor"},
	{is(plumbing.ErrObjectNotFound), problem.Corrupt, "run cairn doctor"},
	{is(eventlog.ErrUnborn), problem.Corrupt, "run cairn doctor"},
	{typed(func(_ *purge.PurgedError, p *problem.Problem) { p.Field, p.Rule = "id", "purged" }), problem.Policy, "an admin of its hub took it out of the space for good; what is to stay of it can be saved as a new note"},
	{typed[*purge.RecordError](nil), problem.Corrupt, "run cairn doctor"},
	{is(eventlog.ErrNotFound), problem.NotFound, "cairn log lists what there is"},
	{is(eventlog.ErrBusy), problem.Busy, "try again"},

	{is(catchup.ErrNoEmbedder), problem.Usage, `give "embedder": "words:PATH" in config.json, where PATH is a file of word vectors, and run "cairn agent stop"`},
	{typed[*embed.FileError](nil), problem.Failed, embedderHint},
	{typed[*embed.SettingError](nil), problem.Failed, embedderHint},

	{when(disk.Full), problem.Failed, "what was saved before is safe; free some space and try again"},
	{when(disk.ReadOnly), problem.Failed, "what was saved before is safe; make the disk writable and try again"},
	{is(fs.ErrPermission), problem.Failed, "what was saved before is safe; give this user the right to read and write there, and try again"},

	{is(catchup.ErrBehind), problem.Busy, "try again"},
	{is(catchup.ErrClosed), problem.Busy, "try again"},
	{typed[*disk.LockedError](nil), problem.Busy, "try again"},
	{is(context.DeadlineExceeded), problem.Busy, "try again; nothing is saved twice"},
	{is(context.Canceled), problem.Busy, "try again; nothing is saved twice"},
}

func is(target error) func(error, *problem.Problem) bool {
	return func(err error, _ *problem.Problem) bool { return errors.Is(err, target) }
}

func when(fits func(error) bool) func(error, *problem.Problem) bool {
	return func(err error, _ *problem.Problem) bool { return fits(err) }
}

func typed[E error](fill func(E, *problem.Problem)) func(error, *problem.Problem) bool {
	return func(err error, p *problem.Problem) bool {
		e, ok := errors.AsType[E](err)
		if ok && fill != nil {
			fill(e, p)
		}
		return ok
	}
}
