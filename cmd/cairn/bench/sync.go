package bench

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/internal/corpus"
	"cairn/internal/cputime"
	"cairn/internal/measure"
)

// syncing measures a hub in a process of its own with two machines in this
// one.
func syncing(w *work) error {
	h, err := w.startHub()
	if err != nil {
		return err
	}
	a, err := w.joined(h, "laptop")
	if err != nil {
		return err
	}
	if err := w.stock(a, team); err != nil {
		return err
	}
	if err := w.settled(a); err != nil {
		return err
	}
	b, err := w.joined(h, "desktop")
	if err != nil {
		return err
	}
	if err := w.settled(b); err != nil {
		return err
	}
	if err := w.journeys(a, b); err != nil {
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	return w.pushes(h, a)
}

// journeys measures from the moment a note is given to the agent on one
// machine until a search on the other finds it.
func (w *work) journeys(a, b *machine) error {
	var times measure.Times
	for i := range w.opt.Runs {
		w.progress("a note travels: %d of %d", i, w.opt.Runs)
		word := markWord(i)
		began := time.Now()
		r, err := remember(w.ctx, a, draft(corpus.Note{Text: "the mark of this journey is " + word}, team))
		if err != nil {
			return err
		}
		err = until(w.ctx, "the note is found", func() (bool, error) {
			answer, err := b.Ask(w.ctx, api.Query{Text: word, Limit: 1})
			return len(answer.Hits) == 1 && answer.Hits[0].ID == r.ID, err
		})
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	w.rows(measure.NewRow("saved here, found there", times))
	return nil
}

// markWord is a word that no note has, nor one that is only a typing error
// away.
func markWord(i int) string {
	word := "zq"
	for range 6 {
		word += strings.Repeat(string(rune('a'+i%10)), 2)
		i /= 10
	}
	return word
}

// fewerPushes says that the second half does a quarter of the runs: each of
// them is a push by git, too.
const fewerPushes = 4

// pushes measures what one event more costs the hub, and beside it, with the
// very same commits, stock git on a repository with the same history.
func (w *work) pushes(h *hubProcess, a *machine) error {
	if _, err := cputime.Of(h.cmd.Process.Pid); errors.Is(err, cputime.ErrUnknown) {
		w.remark("what a push costs the hub is not measured here: %v", err)
		return nil
	} else if err != nil {
		return err
	}
	git, err := w.stockGit(a.home.Space(team))
	if err != nil {
		return err
	}
	var ours, theirs measure.Times
	n := max(1, w.opt.Runs/fewerPushes)
	for i, note := range w.moreNotes(n) {
		w.progress("pushing: %d of %d", i, n)
		commit, took, err := w.push(h, a, note)
		if err != nil {
			return err
		}
		ours = append(ours, took)
		if git == nil {
			continue
		}
		_, server, err := git.push(w.ctx, commit)
		if err != nil {
			return err
		}
		theirs = append(theirs, server.CPU)
	}
	peer := measure.NewRow("git receive-pack, CPU for one push", theirs)
	w.rows(measure.NewRow("hub, CPU for one push", ours).Beside(peer))
	if git != nil {
		w.rows(peer)
	}
	return nil
}

// push saves a note, which sends itself, and says what that cost the hub.
func (w *work) push(h *hubProcess, a *machine, n corpus.Note) (commit string, took time.Duration, err error) {
	before, err := cputime.Of(h.cmd.Process.Pid)
	if err != nil {
		return "", 0, err
	}
	r, err := remember(w.ctx, a, draft(n, team))
	if err != nil {
		return "", 0, err
	}
	if err := w.pushed(a); err != nil {
		return "", 0, fmt.Errorf("push a note: %w", err)
	}
	after, err := cputime.Of(h.cmd.Process.Pid)
	return r.Commit, after - before, err
}
