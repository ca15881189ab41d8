package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

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
	each := max(1, w.opt.Runs*manyRuns/writers)
	notes := w.moreNotes(w.opt.Runs + writers*each)
	if err := w.oneWriter(home, client, notes[:w.opt.Runs]); err != nil {
		return err
	}
	return w.manyWriters(home, notes[w.opt.Runs:])
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

// manyWriters lets many clients save at once, each with a connection of its
// own.
func (w *work) manyWriters(home paths.Home, notes []corpus.Note) error {
	var clients []api.Agent
	for range writers {
		c, err := w.client(home, func() error { return errEnded })
		if err != nil {
			return err
		}
		clients = append(clients, c)
	}
	w.progress("saving with %d writers", writers)
	each := len(notes) / writers
	times, errs := make([]measure.Times, writers), make([]error, writers)
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range clients {
		all.Go(func() { times[i], errs[i] = w.saveAll(c, notes[i*each:(i+1)*each]) })
	}
	all.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var joined measure.Times
	for _, t := range times {
		joined = append(joined, t...)
	}
	row := measure.NewRow(fmt.Sprintf("note, %d writers", writers), joined)
	w.rows(row.At(float64(len(joined)), "events/s", took))
	return nil
}

func (w *work) saveAll(client api.Agent, notes []corpus.Note) (measure.Times, error) {
	var times measure.Times
	for _, n := range notes {
		began := time.Now()
		if _, err := remember(w.ctx, client, draft(n, personal)); err != nil {
			return times, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}
