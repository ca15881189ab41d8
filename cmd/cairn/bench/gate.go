package bench

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/internal/corpus"
	"cairn/internal/event"
	"cairn/internal/measure"
	"cairn/policy"
)

const (
	kilobyte = 1 << 10
	megabyte = 1 << 20
	// A megabyte takes so much longer than a note that fewer runs will do.
	fewer = 25
)

// gate measures the check that every note and every object of a push passes.
func gate(w *work) error {
	w.progress("starting the scanner")
	starts, err := w.scannerStarts(max(1, w.opt.Runs/fewer))
	if err != nil {
		return err
	}
	w.rows(measure.NewRow("start of the scanner", starts))
	p := policy.Default()
	notes, err := w.decide(p)
	if err != nil {
		return err
	}
	w.rows(measure.NewRow("note of 1 KB", notes))
	for _, kind := range []struct {
		name string
		data []byte
	}{
		{"1 MB of prose", bytes.ToValidUTF8(prose(megabyte), nil)},
		{"1 MB of random base64", randomBase64(megabyte)},
	} {
		var times measure.Times
		for range max(1, w.opt.Runs/fewer) {
			w.progress("scanning %s", kind.name)
			if err := w.ctx.Err(); err != nil {
				return err
			}
			began := time.Now()
			p.DecideRaw(policy.Blob, kind.data)
			times = append(times, time.Since(began))
		}
		w.rows(measure.NewRow(kind.name, times).At(float64(len(kind.data))/megabyte, "MB/s", times.Percentile(50)))
	}
	return nil
}

// decide judges notes, as an agent does before it saves them.
func (w *work) decide(p *policy.Policy) (measure.Times, error) {
	events, err := w.savedNotes()
	if err != nil {
		return nil, err
	}
	w.progress("judging notes")
	var times measure.Times
	for i := range w.opt.Runs {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		err := p.Decide(events[i%len(events)])
		times = append(times, time.Since(began))
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// savedNotes are notes of a kilobyte of prose each, as events of an agent.
func (w *work) savedNotes() ([]event.Event, error) {
	home, err := w.makeHome("home")
	if err != nil {
		return nil, err
	}
	m, err := w.own(home)
	if err != nil {
		return nil, err
	}
	text := prose(w.opt.Notes * kilobyte)
	var drafts []api.Draft
	for part := range slices.Chunk(text, kilobyte) {
		drafts = append(drafts, draft(corpus.Note{Text: string(bytes.ToValidUTF8(part, nil))}, personal))
	}
	results, err := m.Import(w.ctx, drafts)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Problem != nil {
			return nil, r.Problem
		}
	}
	var events []event.Event
	err = m.Export(w.ctx, personal, func(b []byte) error {
		e, err := event.Decode(b)
		events = append(events, e)
		return err
	})
	return events, err
}

// prose is so many bytes of notes; the last character may be cut.
func prose(size int) []byte {
	var b bytes.Buffer
	for _, n := range corpus.Notes(size/200 + 1) {
		b.WriteString(n.Text + "\n")
	}
	return b.Bytes()[:size]
}

// randomBase64 is the worst there is for a scanner: everything looks like a
// key.
func randomBase64(size int) []byte {
	raw := make([]byte, size*3/4)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(raw) // it never fails
	return []byte(base64.StdEncoding.EncodeToString(raw))
}

// scannerStarts measures in fresh processes: one compiles the rules once.
func (w *work) scannerStarts(n int) (measure.Times, error) {
	var times measure.Times
	for range n {
		out, err := exec.CommandContext(w.ctx, w.opt.Program, "bench", ScannerStartCommand).Output()
		if err != nil {
			return nil, fmt.Errorf("start the scanner: %w", err)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("start the scanner: %w", err)
		}
		times = append(times, time.Duration(ns))
	}
	return times, nil
}

// ScannerStartCommand is the name of the command that calls ScannerStart.
const ScannerStartCommand = "scanner-start"

// ScannerStart writes how many nanoseconds this process, which has done
// nothing yet, takes until the gate has judged its first text.
func ScannerStart(out io.Writer) error {
	began := time.Now()
	policy.Default().DecideRaw(policy.Blob, []byte("nothing to see"))
	_, err := fmt.Fprintln(out, time.Since(began).Nanoseconds())
	return err
}
