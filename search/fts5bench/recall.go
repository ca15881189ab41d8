package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"cairn/internal/corpus"
	"cairn/internal/golden"
)

// A recallRow is how well one engine answered the questions of a file.
type recallRow struct {
	Engine string `json:"engine"`
	golden.Figures
}

// recall lets every engine answer the questions of sets that bring their notes,
// each set in a folder of its own below dir.
func recall(ctx context.Context, dir string, sets []golden.Set) ([]recallRow, error) {
	var names []string
	outcomes := map[string][]golden.Outcome{}
	for i, set := range sets {
		below := filepath.Join(dir, fmt.Sprintf("set-%d", i))
		if err := os.Mkdir(below, 0o700); err != nil {
			return nil, err
		}
		engines, err := openAll(ctx, below, notesOf(set))
		if err == nil {
			err = growAll(ctx, engines)
		}
		for _, e := range engines {
			if err == nil {
				outcomes[e.name], err = answers(ctx, e, set, outcomes[e.name])
			}
			if i == 0 {
				names = append(names, e.name)
			}
		}
		if err = errors.Join(err, closeAll(engines)); err != nil {
			return nil, err
		}
	}
	var rows []recallRow
	for _, name := range names {
		rows = append(rows, recallRow{name, golden.FiguresOf(outcomes[name])})
	}
	return rows, nil
}

// notesOf are the notes of a set, a second apart.
func notesOf(set golden.Set) []corpus.Note {
	var out []corpus.Note
	for i, n := range set.Notes {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		out = append(out, corpus.Note{At: at, Title: n.Title, Text: n.Text, Tags: n.Tags})
	}
	return out
}

// answers adds the outcomes of a set's questions to list.
func answers(ctx context.Context, e engine, set golden.Set, list []golden.Outcome) ([]golden.Outcome, error) {
	for _, q := range set.Questions {
		found, err := e.ask(ctx, question{text: q.Text, words: wordsOf(q.Text), limit: golden.Depth})
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.name, q.Text, err)
		}
		list = append(list, golden.OutcomeOf(q, len(found), func(want string, i int) bool { return want == set.Notes[found[i]].ID }))
	}
	return list, nil
}

// wordsOf are the words of a question as programs that use FTS5 cut it.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

func writeRecall(w io.Writer, rows []recallRow) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "engine\tquestions\trecall@1\t@5\t@10\thit@5\t@10\tMRR\tnDCG@10\tempty\tnone right")
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\t%d of %d\n", r.Engine, r.Questions,
			r.RecallAt1, r.RecallAt5, r.RecallAt10, r.HitAt5, r.HitAt10, r.MRR, r.NDCGAt10, r.Empty, r.NoneRight, r.None)
	}
	return tab.Flush()
}
