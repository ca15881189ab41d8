package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cairn/internal/event"
	"cairn/internal/problem"
)

func (a *app) verifyCommand() *cobra.Command {
	var f saveFlags
	var note string
	cmd := &cobra.Command{
		Use: "verify ID confirmed|refuted|uncertain", Short: "Say whether an event holds", GroupID: groupKinds, Args: args(2, 2),
		RunE: func(cmd *cobra.Command, given []string) error {
			p := &event.Verify{Target: event.ID(given[0]), Verdict: event.Verdict(given[1]), Attestation: note}
			return a.act(cmd.Context(), a.draft(f, p))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&note, "note", "", "how you know")
	return cmd
}

func (a *app) archiveCommand(direction, short string) *cobra.Command {
	var f saveFlags
	var reason string
	cmd := &cobra.Command{
		Use: direction + " ID", Short: short, GroupID: groupKinds, Args: args(1, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			p := &event.Archive{Target: event.ID(given[0]), Direction: direction, Reason: reason}
			return a.act(cmd.Context(), a.draft(f, p))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	return cmd
}

func (a *app) redactCommand() *cobra.Command {
	var f saveFlags
	var reason string
	cmd := &cobra.Command{
		Use: "redact ID --reason R", Short: "Hide an event everywhere, for good", GroupID: groupKinds, Args: args(1, 1),
		Long: "Hide an event on every machine, for good. A preference that it had replaced comes back.\nThe bytes stay in the git history: change what should not have been there.",
		RunE: func(cmd *cobra.Command, given []string) error {
			if reason == "" {
				return usage("say why with --reason")
			}
			p := &event.Redact{Target: event.ID(given[0]), Reason: reason, RedactedSpans: []event.Span{}}
			return a.act(cmd.Context(), a.draft(f, p))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why; it stays visible")
	return cmd
}

func (a *app) skillCommand() *cobra.Command {
	return group("skill", "Record changes to skills", groupKinds,
		a.skillEditCommand(),
		a.kindList("list", "List recorded changes", event.KindSkillEdit, false),
	)
}

func (a *app) skillEditCommand() *cobra.Command {
	var f saveFlags
	var reason, kind string
	cmd := &cobra.Command{
		Use: "edit NAME FILE", Short: "Record that a file of a skill changed", Args: args(2, 2),
		Long: "Record the hash of a skill's file as it is now. A file that is gone is recorded as deleted.",
		RunE: func(cmd *cobra.Command, given []string) error {
			hash, edit, err := hashFile(given[1])
			if err != nil {
				return err
			}
			if kind != "" {
				edit = kind
			}
			p := &event.SkillEdit{SkillName: given[0], File: filepath.ToSlash(given[1]), EditKind: edit, ContentHash: hash, Reason: reason}
			return a.save(cmd.Context(), a.draft(f, p))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	cmd.Flags().StringVar(&kind, "edit", "", "create, modify or delete (default: modify, or delete if the file is gone)")
	return cmd
}

// hashFile is the hash of a file and the kind of edit it speaks for.
func hashFile(name string) (hash, edit string, err error) {
	h := sha256.New()
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "sha256:" + hex.EncodeToString(h.Sum(nil)), "delete", nil
	}
	if err != nil {
		return "", "", problem.New(problem.Usage, fmt.Sprintf("cannot read %s: %v", name, err))
	}
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", fmt.Errorf("read %s: %w", name, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), "modify", nil
}

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "Read what agent and hub recorded", groupCare,
		a.kindList("list", "List audit events", event.KindAudit, true),
	)
}
