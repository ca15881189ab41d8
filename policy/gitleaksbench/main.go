package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	seed := flag.Uint64("seed", 1, "of what is made: another one makes other secrets")
	runs := flag.Int("runs", 50, "how often each text is timed")
	table := flag.Bool("table", false, "print a table instead of JSON")
	flag.Parse()
	report, err := compare(*seed, max(*runs, 1))
	if err == nil {
		if *table {
			report.WriteTable(os.Stdout)
		} else {
			err = json.NewEncoder(os.Stdout).Encode(report)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gitleaksbench:", err)
		os.Exit(1)
	}
}
