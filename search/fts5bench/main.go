package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"cairn/internal/golden"
)

func main() {
	notes := flag.Int("notes", 10_000, "how many notes to search, at least 1000")
	runs := flag.Int("runs", 100, "how many questions of each class")
	file := flag.String("recall", "", "answer the questions of this file instead, of notes that it brings; see cairn bench recall --help")
	table := flag.Bool("table", false, "print a table instead of JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *file, *notes, *runs, *table)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fts5bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, notes, runs int, table bool) (err error) {
	dir, err := os.MkdirTemp("", "fts5bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if file != "" {
		return runRecall(ctx, dir, file, table)
	}
	report, err := compare(ctx, dir, max(notes, 1000), max(runs, 1))
	if err != nil {
		return err
	}
	if table {
		report.WriteTable(os.Stdout)
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

func runRecall(ctx context.Context, dir, file string, table bool) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sets, err := golden.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	rows, err := recall(ctx, dir, sets)
	if err != nil {
		return err
	}
	if table {
		return writeRecall(os.Stdout, rows)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"bench": "fts5 recall", "rows": rows})
}
