package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cairn/agent/api"
)

// shownJSON is the JSON form of an event shown.
type shownJSON struct {
	Event     json.RawMessage `json:"event"`
	Commit    string          `json:"commit"`
	State     api.State       `json:"state"`
	Signature string          `json:"signature"`
	Device    string          `json:"device"`
	History   []api.Hit       `json:"history,omitempty"`
}

func (a *app) showCommand() *cobra.Command {
	var raw, history bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one event in full", GroupID: groupNotes, Args: args(1, 1),
		Long: `Show one event: a few header lines, an empty line, then the text byte for byte. (On a terminal without the control
characters in it, and with a line end.) Any unique start or end of the id with six or more characters will do.`,
		RunE: func(cmd *cobra.Command, given []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			s, err := agent.Show(cmd.Context(), given[0], history)
			if err != nil {
				return err
			}
			if raw {
				_, err := a.env.Stdout.Write(s.Raw)
				return err
			}
			return a.print(shownJSON{s.Raw, s.Commit, s.State, s.Signature, s.Device, s.History}, func(w io.Writer) {
				if a.env.Screen {
					s.Hit.Text = onScreen(s.Hit.Text)
				}
				writeShown(w, s)
			})
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print the stored file")
	cmd.Flags().BoolVar(&history, "history", false, "show the whole chain")
	return cmd
}

// onScreen is a text that others wrote, made fit for a terminal.
func onScreen(text string) string {
	text = harmless(text)
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func writeShown(w io.Writer, s api.Shown) {
	h := s.Hit
	for _, line := range [][2]string{
		{"id", string(h.ID)},
		{"kind", string(h.Kind)},
		{"title", oneLine(h.Title)},
		{"space", h.Space},
		{"project", h.Project},
		{"tags", strings.Join(h.Tags, ", ")},
		{"recorded", h.Recorded.Format("2006-01-02T15:04:05.000Z07:00")},
		{"by", strings.TrimSpace(h.Actor + " " + h.Harness)},
		{"device", s.Device + " (signature " + s.Signature + ")"},
		{"state", stateLine(s)},
		{"commit", s.Commit},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%-9s %s\n", line[0]+":", harmless(line[1]))
		}
	}
	fmt.Fprintln(w)
	io.WriteString(w, h.Text)
	if len(s.History) > 0 {
		fmt.Fprint(w, "\n\nhistory, oldest first:\n")
		for _, h := range s.History {
			writeHit(w, h, plain)
		}
	}
}

func stateLine(s api.Shown) string {
	line := string(s.State)
	if by := s.Hit.SupersededBy; by != "" {
		line += " by " + by.Short()
	}
	if s.Hit.Verdict != "" {
		line += ", " + s.Hit.Verdict
	}
	return line
}
