package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	notes := flag.Int("notes", 10_000, "how many notes to search, at least 1000")
	runs := flag.Int("runs", 100, "how many questions of each class")
	table := flag.Bool("table", false, "print a table instead of JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *notes, *runs, *table)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fts5bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, notes, runs int, table bool) (err error) {
	dir, err := os.MkdirTemp("", "fts5bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
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
