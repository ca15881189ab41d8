package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/corpus"
	"cairn/internal/measure"
	"cairn/internal/paths"
)

// writers is how many write at once, and manyRuns how many notes each writes
// for every one that a single writer does.
const (
	writers  = 16
	manyRuns = 4
)

// note measures saving as the command line and MCP servers do it: through the
// socket of an agent in another process.
func note(w *work) error {
	home, err := w.stocked("home")
	if err != nil {
		return err
	}
	client, err := w.startAgent(home)
	if err != nil {
		return err
	}
	notes := w.moreNotes(2 * w.opt.Runs)
	if err := w.oneWriter(home, client, notes[:w.opt.Runs]); err != nil {
		return err
	}
	if err := w.findEach(home, client, notes[w.opt.Runs:]); err != nil {
		return err
	}
	return w.manyWriters(home, max(1, w.opt.Runs*manyRuns/writers))
}

// oneWriter saves one note after the other, and writes and syncs the bytes of
// each into a file beside, which is what the disk alone takes for it.
func (w *work) oneWriter(home paths.Home, client api.Agent, notes []corpus.Note) (err error) {
	peer, err := os.Create(filepath.Join(string(home), "peer"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, peer.Close()) }()
	var saves, syncs measure.Times
	for i, n := range notes {
		w.progress("saving: %d of %d", i, len(notes))
		d := draft(n, personal)
		began := time.Now()
		r, err := remember(w.ctx, client, d)
		if err != nil {
			return err
		}
		saves = append(saves, time.Since(began))
		shown, err := client.Show(w.ctx, string(r.ID), false)
		if err != nil {
			return err
		}
		took, err := writeAndSync(peer, shown.Raw)
		if err != nil {
			return err
		}
		syncs = append(syncs, took)
	}
	bare := measure.NewRow("write and sync", syncs)
	w.rows(measure.NewRow("note, 1 writer", saves).Beside(bare), bare)
	return nil
}

func writeAndSync(f *os.File, b []byte) (time.Duration, error) {
	began := time.Now()
	if _, err := f.Write(b); err != nil {
		return 0, err
	}
	err := f.Sync()
	return time.Since(began), err
}

// findEach saves notes and asks for each at once, through a second connection:
// what it takes until another tool finds what one has saved. The first ask must
// find it.
func (w *work) findEach(home paths.Home, client api.Agent, notes []corpus.Note) error {
	other, err := w.client(home, func() error { return errEnded })
	if err != nil {
		return err
	}
	var times measure.Times
	for i, n := range notes {
		w.progress("saving and asking: %d of %d", i, len(notes))
		word := fmt.Sprintf("word%d", i)
		n.Text += "\n" + word
		began := time.Now()
		r, err := remember(w.ctx, client, draft(n, personal))
		if err != nil {
			return err
		}
		a, err := other.Ask(w.ctx, api.Query{Text: word})
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		if len(a.Hits) == 0 || a.Hits[0].ID != r.ID {
			return fmt.Errorf("note %s was saved, and an ask after that did not find it", r.ID)
		}
	}
	w.rows(measure.NewRow("note, then ask finds it", times))
	return nil
}

// manyWriters lets many processes save at once, one note after the other each.
func (w *work) manyWriters(home paths.Home, each int) error {
	w.progress("saving with %d processes", writers)
	times, took, err := w.race(writers, func(i int) []string {
		return []string{"bench", SaveCommand, string(home), strconv.Itoa(each), strconv.Itoa(i)}
	})
	if err != nil {
		return err
	}
	w.manyRow(fmt.Sprintf("note, %d processes", writers), times, took)
	return nil
}

// SaveCommand is the name of the command that calls Save.
const SaveCommand = "save"

// Save is one of many processes that save through the agent of a home: it saves
// count notes, which no process of another number has. See whenStarted.
func Save(ctx context.Context, home paths.Home, count, number string, in io.Reader, out io.Writer) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return fmt.Errorf("how many notes to save: %q", count)
	}
	client, done, err := agent.Running(ctx, home)
	if err != nil {
		return err
	}
	defer done()
	notes := corpus.Notes(n)
	return whenStarted(in, out, n, func(i int) error {
		d := draft(notes[i], personal)
		d.Project = "process " + number
		_, err := remember(ctx, client, d)
		return err
	})
}
