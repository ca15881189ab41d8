package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/zricethezav/gitleaks/v8/detect"

	"cairn/internal/measure"
	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// An engine says whether it would keep a text out.
type engine struct {
	name   string
	blocks func(text string) bool
}

// A Report is what both engines did with the same texts.
type Report struct {
	Bench string        `json:"bench"`
	Seed  uint64        `json:"seed"`
	Sets  []SetRow      `json:"sets"`
	Times []measure.Row `json:"times"`
}

// A SetRow is how many texts of a set each engine blocked.
type SetRow struct {
	Set     string         `json:"set"`
	Texts   int            `json:"texts"`
	Blocked map[string]int `json:"blocked"`
}

// cleanRounds is how many samples of each sort of clean text there are.
const cleanRounds = 40

func compare(seed uint64, runs int) (Report, error) {
	report := Report{Bench: "gate beside gitleaks", Seed: seed}
	engines, starts, err := start()
	if err != nil {
		return report, err
	}
	report.Times = starts
	for _, set := range sets(seed) {
		row := SetRow{Set: set.name, Texts: len(set.texts), Blocked: map[string]int{}}
		for _, e := range engines {
			for _, text := range set.texts {
				if e.blocks(text) {
					row.Blocked[e.name]++
				}
			}
		}
		report.Sets = append(report.Sets, row)
	}
	report.Times = append(report.Times, speed(engines, seed, runs)...)
	return report, nil
}

// start makes both engines and says how long that took. A process compiles
// cairn's rules once, so there is one figure of each.
func start() ([]engine, []measure.Row, error) {
	began := time.Now()
	scanner := secrets.New()
	ours := measure.NewRow("start, cairn", measure.Times{time.Since(began)})
	began = time.Now()
	leaks, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("start gitleaks: %w", err)
	}
	theirs := measure.NewRow("start, gitleaks", measure.Times{time.Since(began)})
	leaks.MaxDecodeDepth = 3 // as many levels as cairn reads
	return []engine{
		{"cairn", func(text string) bool { return len(scanner.Scan([]byte(text))) > 0 }},
		{"gitleaks", func(text string) bool { return len(leaks.DetectString(text)) > 0 }},
	}, []measure.Row{ours, theirs.Beside(ours)}, nil
}

// A set is texts of which an engine should block all, or none if they are clean.
type set struct {
	name  string
	texts []string
}

// tokens are the kinds of secret that both engines have a rule for.
var tokens = []string{
	"github-pat", "aws-access-key-id", "openai-key", "anthropic-api", "gcp-api-key", "slack-token", "stripe-live",
	"sendgrid", "npm-token", "gitlab-pat", "huggingface", "databricks", "digitalocean-pat",
}

func sets(seed uint64) []set {
	r := rand.New(rand.NewPCG(seed, 0))
	var plain, common, places, disguised, obscure, clean set
	for _, rule := range secretstest.Rules() {
		plain.texts = append(plain.texts, secretstest.Forms(rule, r)...)
	}
	for _, rule := range tokens {
		common.texts = append(common.texts, secretstest.Forms(rule, r)...)
		for _, place := range secretstest.Carriers() {
			places.texts = append(places.texts, place.Put(secretstest.Generate(rule, r)))
		}
		for _, e := range secretstest.Evasions() {
			disguised.texts = append(disguised.texts, e.Apply(r, secretstest.Generate(rule, r)))
		}
		for _, e := range secretstest.Obscure() {
			obscure.texts = append(obscure.texts, e.Apply(r, secretstest.Generate(rule, r)))
		}
	}
	for range cleanRounds {
		for _, sample := range secretstest.Clean(r) {
			clean.texts = append(clean.texts, sample.Text)
		}
	}
	plain.name, common.name, places.name = "every kind of secret, plain", "kinds that both know, plain", "the same in places of a note"
	disguised.name, obscure.name, clean.name = "the same, formatted or hidden", "the same, where nobody looks", "clean text: none should be blocked"
	return []set{plain, common, places, disguised, obscure, clean}
}

const (
	kilobyte = 1 << 10
	megabyte = 1 << 20
)

// speed times both engines over the same texts, in turns.
func speed(engines []engine, seed uint64, runs int) (rows []measure.Row) {
	note := strings.Repeat("The session token is rotated by the service; a client keeps its secret key in the vault. ", 12)[:kilobyte]
	for _, text := range []struct {
		name, text string
		runs       int
	}{
		{"a note of 1 KB", note, runs * 10},
		{"1 MB of notes", strings.Repeat(note+"\n", megabyte/(kilobyte+1)), max(1, runs/10)},
		{"1 MB of random base64", randomBase64(seed), max(1, runs/10)},
	} {
		times := make([]measure.Times, len(engines))
		for range text.runs {
			for i, e := range engines {
				began := time.Now()
				e.blocks(text.text)
				times[i] = append(times[i], time.Since(began))
			}
		}
		ours := measure.NewRow(text.name+", "+engines[0].name, times[0])
		rows = append(rows, ours)
		for i := 1; i < len(engines); i++ {
			rows = append(rows, measure.NewRow(text.name+", "+engines[i].name, times[i]).Beside(ours))
		}
	}
	return rows
}

func randomBase64(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	raw := make([]byte, megabyte/4*3)
	for i := range raw {
		raw[i] = byte(r.UintN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// WriteTable prints the report for people.
func (r Report) WriteTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "blocked\ttexts\tcairn\tgitleaks")
	for _, s := range r.Sets {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t%.1f %%\n", s.Set, s.Texts, s.share("cairn"), s.share("gitleaks"))
	}
	fmt.Fprintln(t, "\t\t\t\ntime\tp50 ms\tp95 ms\tratio")
	for _, row := range r.Times {
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t", row.Name, row.P50, row.P95)
		if row.Ratio > 0 {
			fmt.Fprintf(t, "x %.1f", row.Ratio)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func (s SetRow) share(engine string) float64 {
	return 100 * float64(s.Blocked[engine]) / float64(max(1, s.Texts))
}
