package aitools

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cairn/installers/aitools/splice"
)

// A draft is a file on its way from what it holds to what it will hold.
type draft struct {
	path, target string
	perm         fs.FileMode
	before, now  []byte // nil if there is no file
	record       *fileRecord
	blocked      string // why it cannot be edited at all
	touched      bool
	tookOut      bool
	steps        []step
	notes        []string
	refusals     []*ManualError
}

var (
	errForeign = errors.New("something named cairn is there that cairn did not write")
	errEdited  = errors.New("what cairn wrote there was changed by hand")
)

// What a person is told to do about a part.
const (
	putIn      = "Put this in by hand"
	takeOut    = "Take this out by hand"
	deleteFile = "Delete the file if you do not want it any more"
)

func (d *draft) refuse(part Part, err error, advice string) {
	refusal := &ManualError{Path: d.path, Reason: err.Error(), Advice: advice, Snippet: part.Whole, Err: err}
	switch {
	case advice == deleteFile:
		refusal.Snippet = ""
	case part.Whole == "":
		refusal.Snippet = splice.Show(part.Entry)
	}
	d.refusals = append(d.refusals, refusal)
}

// state tells what the draft says about a part now. An error is a reason to keep away from the file.
func (d *draft) state(part Part) (splice.State, error) {
	switch {
	case d.blocked != "":
		return splice.Absent, errors.New(d.blocked)
	case part.Whole == "":
		return splice.Find(d.now, part.Entry)
	case d.now == nil:
		return splice.Absent, nil
	case string(d.now) == part.Whole:
		return splice.Current, nil
	case d.record != nil && d.record.Written == hashOf(d.before):
		return splice.Outdated, nil
	default:
		return splice.Edited, nil
	}
}

func (p Part) key() string {
	if p.Whole != "" {
		return p.Path
	}
	return p.Path + "\x00" + p.entryKey()
}

func (p Part) entryKey() string {
	key := strings.Join(p.Entry.Path, ".")
	if p.Entry.Item {
		key += "[]"
	}
	return key
}

// keepRecord makes sure that there is a record, and that it is about the file that is there.
func (d *draft) keepRecord() {
	if d.record != nil && d.before != nil {
		return
	}
	d.record = &fileRecord{Created: d.before == nil}
	if d.before != nil {
		d.record.Original = hashOf(d.before)
	}
}

func (d *draft) apply(edit splice.Edit) {
	d.steps = append(d.steps, newStep(d.now, edit))
	d.now = edit.Apply(d.now)
}

func (d *draft) putIn(part Part) error {
	edit, err := splice.Insert(d.now, part.Entry)
	if err != nil {
		return err
	}
	if d.now == nil || d.record == nil {
		d.keepRecord()
	}
	d.record.drop(part.entryKey())
	d.record.Pieces = append(d.record.Pieces, piece{Entry: part.entryKey(), Text: edit.Put, At: edit.At})
	d.apply(edit)
	return nil
}

// takeOut cuts exactly what was inserted, or else what stands there by the structure of the file.
func (d *draft) takeOut(part Part) error {
	known, _ := d.record.piece(part.entryKey())
	if edit, ok := splice.CutText(d.now, part.Entry, known.Text, known.At); ok {
		d.apply(edit)
	} else {
		edits, err := splice.Cut(d.now, part.Entry)
		if err != nil {
			return err
		}
		for _, edit := range edits {
			d.apply(edit)
		}
	}
	if d.record != nil {
		d.record.drop(part.entryKey())
	}
	return nil
}

// takeOutCommon takes out what others may have come to rely on, only if nothing of theirs is left.
func (d *draft) takeOutCommon(part Part) {
	known, ok := d.record.piece(part.entryKey())
	if !ok {
		return
	}
	edit, ok := splice.CutText(d.now, part.Entry, known.Text, known.At)
	if !ok {
		return
	}
	rest := edit.Apply(d.now)
	if hashOf(rest) == d.record.Original || d.record.Created && hollow(rest) {
		d.apply(edit)
	}
	d.record.drop(part.entryKey())
}

// change closes the draft.
func (d *draft) change(u use) Change {
	if u.remove && d.record != nil && d.record.Created && d.now != nil && len(d.refusals) == 0 && hollow(d.now) {
		d.now = nil
	}
	c := Change{
		Path: d.path, Before: d.before, After: d.now, Note: strings.Join(d.notes, " "), Refusals: d.refusals,
		steps: d.steps, target: d.target, perm: d.perm, record: d.record, use: u,
	}
	c.Action = d.action(u.remove)
	switch {
	case c.Action == Manual || c.record == nil:
	case u.remove && (d.now == nil || len(c.record.Pieces) == 0 && len(d.refusals) == 0):
		c.record = nil
	case d.now != nil && c.Action != Unchanged:
		c.record.Written = hashOf(d.now)
	}
	if c.Action == Manual {
		c.Note = strings.TrimSpace(c.Note + " " + d.refusals[0].Error())
	}
	return c
}

func (d *draft) action(remove bool) Action {
	switch {
	case d.before == nil && d.now != nil:
		return Create
	case d.before != nil && d.now == nil:
		return Remove
	case bytes.Equal(d.before, d.now) && len(d.refusals) > 0:
		return Manual
	case bytes.Equal(d.before, d.now):
		return Unchanged
	case remove:
		return Remove
	case d.tookOut:
		return Replace
	default:
		return Append
	}
}

// hollow tells whether a text says nothing: it is blank, or holds only tables and lists without content.
func hollow(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	tree, err := splice.Decode(text, splice.JSON)
	return err == nil && isHollow(tree)
}

func isHollow(tree any) bool {
	switch v := tree.(type) {
	case map[string]any:
		for _, value := range v {
			if !isHollow(value) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isHollow(item) })
	default:
		return false
	}
}
