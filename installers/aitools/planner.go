package aitools

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"cairn/installers/aitools/splice"
	"cairn/internal/disk"
)

// A planner collects what several parts want of the same files.
type planner struct {
	env    Env
	ledger *ledger
	drafts map[string]*draft
	order  []string
}

func newPlanner(env Env) (*planner, error) {
	if err := env.check(); err != nil {
		return nil, err
	}
	l, err := readLedger(env)
	if err != nil {
		return nil, err
	}
	return &planner{env: env, ledger: l, drafts: map[string]*draft{}}, nil
}

// draft opens the draft of the part's file.
func (p *planner) draft(part Part) (*draft, error) {
	if d, ok := p.drafts[part.Path]; ok {
		return d, nil
	}
	d := &draft{path: part.Path, target: part.Path, perm: part.Perm, record: p.ledger.Files[part.Path].clone()}
	if err := d.read(p.env); err != nil {
		return nil, err
	}
	p.drafts[part.Path] = d
	p.order = append(p.order, part.Path)
	return d, nil
}

// read takes in what is there: nothing, a plain file, or a link to one.
func (d *draft) read(env Env) error {
	info, err := env.fs().Lstat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if d.target, err = filepath.EvalSymlinks(d.path); errors.Is(err, fs.ErrNotExist) {
			d.target, d.blocked = d.path, "it is a link that leads nowhere"
			return nil
		}
		if err == nil {
			info, err = env.fs().Lstat(d.target)
		}
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", d.path, err)
	}
	if !info.Mode().IsRegular() {
		d.blocked = "it is not a plain file"
		return nil
	}
	d.perm = info.Mode().Perm()
	d.before, err = disk.ReadFile(env.fs(), d.target)
	d.now = d.before
	return err
}

func (p *planner) connect(part Part) error {
	d, err := p.draft(part)
	if err != nil {
		return err
	}
	d.touch(part.Note)
	state, err := d.state(part)
	switch {
	case err != nil:
		d.refuse(part, err, putIn)
	case state == splice.Current || part.Common && state != splice.Absent:
	case state == splice.Foreign:
		d.refuse(part, errForeign, putIn)
	case state == splice.Edited:
		d.refuse(part, errEdited, putIn)
	case part.Whole != "":
		d.replaceWhole(part)
	default:
		d.renew(part, state)
	}
	return nil
}

// replaceWhole sets the contents of a file of ours.
func (d *draft) replaceWhole(part Part) {
	d.tookOut = d.now != nil
	d.keepRecord()
	d.steps = append(d.steps, step{line: 1, cut: string(d.now), put: part.Whole})
	d.now = []byte(part.Whole)
}

// renew puts the entry in, in the place of an older one of ours if there is one. Both or neither is done.
func (d *draft) renew(part Part, state splice.State) {
	undo := *d
	undo.record = d.record.clone()
	err := error(nil)
	if state == splice.Outdated {
		err = d.takeOut(part)
		d.tookOut = true
	}
	if err == nil {
		err = d.putIn(part)
	}
	if err != nil {
		*d = undo
		d.refuse(part, err, putIn)
	}
}

func (p *planner) disconnect(part Part) error {
	d, err := p.draft(part)
	if err != nil {
		return err
	}
	if d.before == nil && d.blocked == "" {
		if d.record != nil {
			d.touch("")
			d.record = nil
		}
		return nil
	}
	d.touch("")
	state, err := d.state(part)
	switch {
	case err != nil:
		d.refuse(part, err, takeOut)
	case state == splice.Absent || d.now == nil:
	case part.Common:
		d.takeOutCommon(part)
	case state == splice.Foreign:
		d.touch("What is there under the name cairn was not written by cairn; it stays.")
	case part.Whole != "" && state == splice.Edited:
		d.refuse(part, errEdited, deleteFile)
	case part.Whole != "":
		d.steps = append(d.steps, step{line: 1, cut: string(d.now)})
		d.now = nil
	default:
		if err := d.takeOut(part); err != nil {
			d.refuse(part, err, takeOut)
		}
	}
	return nil
}

// touch makes the file appear in the plan.
func (d *draft) touch(note string) {
	d.touched = true
	if note != "" && !slices.Contains(d.notes, note) {
		d.notes = append(d.notes, note)
	}
}
