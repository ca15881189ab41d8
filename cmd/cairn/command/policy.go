package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
)

func (a *app) policyCommand() *cobra.Command {
	return group("policy", "What may be stored", groupCare, append(a.policyLife(false), a.policyCheckCommand(), a.policyTestCommand(), a.policyScanCommand())...)
}

// scanLine is one text to scan, and scanAnswer what was found in it.
type (
	scanLine struct {
		ID    string  `json:"id"`
		Text  *string `json:"text"`
		Raw   []byte  `json:"raw_b64"`
		Where string  `json:"where"` // commit, tree, tag, blob or ref, as in a push; anything else is a text
	}
	scanAnswer struct {
		ID       string        `json:"id"`
		Blocked  bool          `json:"blocked"`
		Findings []scanFinding `json:"findings"`
	}
	scanFinding struct {
		Rule  string `json:"rule"`
		Field string `json:"field,omitempty"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}
)

func (a *app) policyScanCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use: "scan", Short: "Say what the gate would refuse in the text on standard input", Args: args(0, 0),
		Long: `Scan standard input with the code that the agent and the hub use, and answer one JSON object a line.
With --jsonl each line is {"id", "text" or "raw_b64", "where"?}. The exit code is 4 if anything was blocked.`,
		RunE: func(*cobra.Command, []string) error {
			s := scan{policy: policy.Default(), out: bufio.NewWriter(a.env.Stdout)}
			err := s.run(a.env.Stdin, jsonl)
			if err = errors.Join(err, s.out.Flush()); err != nil {
				return err
			}
			if s.blocked {
				return &silentError{problem.Secret.ExitCode()}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "read one JSON object a line")
	return cmd
}

type scan struct {
	policy  *policy.Policy
	out     *bufio.Writer
	blocked bool
}

func (s *scan) run(in io.Reader, jsonl bool) error {
	if !jsonl {
		b, err := io.ReadAll(io.LimitReader(in, 2*event.MaxFile))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		return s.one("stdin", policy.Blob, b)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), 4*event.MaxFile)
	for n := 1; lines.Scan(); n++ {
		var l scanLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return usage(fmt.Sprintf("line %d is not a JSON object of this form", n))
		}
		data := l.Raw
		if l.Text != nil {
			data = []byte(*l.Text)
		}
		if err := s.one(l.ID, objectKind(l.Where), data); err != nil {
			return err
		}
	}
	return lines.Err()
}

// objectKind is the kind of object that a place stands for.
func objectKind(where string) string {
	if slices.Contains([]string{policy.Commit, policy.Tree, policy.Tag, policy.Ref}, where) {
		return where
	}
	return policy.Blob
}

func (s *scan) one(id, kind string, data []byte) error {
	answer := scanAnswer{ID: id, Findings: []scanFinding{}}
	for _, f := range s.policy.DecideRaw(kind, data) {
		answer.Findings = append(answer.Findings, scanFinding{f.Rule, f.Field, f.Start, f.End})
	}
	answer.Blocked = len(answer.Findings) > 0
	s.blocked = s.blocked || answer.Blocked
	return writeJSON(s.out, answer)
}
