package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cairn/hub"
	"cairn/hub/hook"
	"cairn/internal/disk"
)

// hookFlags are what both commands take.
type hookFlags struct {
	hook.Setup
	config string
}

func (f *hookFlags) on(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "file that says in JSON what the flags say, which stand above it")
	flags.StringVar(&f.Keys, "keys", "", "file with the public keys of the devices whose events are taken, one a line; every device's are without it")
	flags.StringVar(&f.Space, "space", "", "the space that the repository must be")
	flags.StringVar(&f.Policy, "policy", "", "a team's policy file, or a folder of its signed versions; see docs/POLICY.md")
	flags.StringVar(&f.Fingerprints, "fingerprints", "", "file with the team's key for what the policy excuses, readable by the server alone")
	flags.StringVar(&f.Members, "members", "", "a hub's signed list of devices, or a folder of such; only these devices' events are taken")
	flags.StringVar(&f.HubKey, "hub-key", "", "file with the public key of the hub that signs members and policy")
	flags.StringVar(&f.Owner, "owner", "", "whose space personal the repository is")
	flags.StringVar(&f.Audit, "audit", "", "file to which a line of JSON is added for each push")
	flags.IntVar(&f.AuditMiB, "audit-mib", 0, "how much that file and the one before it may take together; 64 without it")
	flags.StringVar(&f.Timeout, "timeout", "", "how long a push may take to be looked at, 10m without it; then it is refused")
}

// setup is what flags and file say together.
func (f *hookFlags) setup() (hook.Setup, error) {
	if f.config == "" {
		return f.Setup, nil
	}
	base, err := hook.ReadSetup(disk.OS, f.config)
	return f.Over(base), err
}

func (a *app) hubHookCommand() *cobra.Command {
	c := group("hook", "The hub's gate in front of any git server's repository", "", a.preReceiveCommand(), a.hubHookInstallCommand(), a.hubHookExportCommand())
	return c
}

func (a *app) preReceiveCommand() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use: "pre-receive [--config FILE] [--space S] [--policy FILE|DIR] [--members FILE|DIR]", Short: "Judge a push, as git's pre-receive hook", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			beModest(cmd.Context())
			lines, err := a.judgePush(cmd.Context(), f)
			if err != nil {
				lines = hook.Told(err)
			}
			for _, line := range lines {
				fmt.Fprintln(a.env.Stderr, line)
			}
			if len(lines) > 0 {
				return &silentError{1}
			}
			return nil
		},
	}
	f.on(cmd)
	return cmd
}

func (a *app) judgePush(ctx context.Context, f hookFlags) ([]string, error) {
	setup, err := f.setup()
	if err != nil {
		return nil, err
	}
	ledger, who := setup.Ledger(disk.OS, time.Now), hook.PusherOf(a.env.Getenv)
	o, err := setup.Options(disk.OS, time.Now)
	if err == nil {
		var dir string
		if dir, err = os.Getwd(); err == nil {
			o.Pusher, o.Ledger = who, ledger
			return hook.Judge(ctx, hook.Call{Getenv: a.env.Getenv, Dir: dir, Stdin: a.env.Stdin}, o)
		}
	}
	if ledger != nil {
		err = errors.Join(err, hook.Keep(ctx, ledger, hook.Failed(who, err)))
	}
	return nil, err
}

func (a *app) hubHookInstallCommand() *cobra.Command {
	var f hookFlags
	var repo string
	cmd := &cobra.Command{
		Use: "install --repo DIR [--config FILE] [--space S] [--policy FILE|DIR] [--members FILE|DIR]", Short: "Put the gate in front of a bare repository", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repo == "" {
				return usage("say where with --repo DIR")
			}
			command, err := a.hookLine(f)
			if err != nil {
				return err
			}
			if repo, err = filepath.Abs(repo); err != nil {
				return err
			}
			done, err := hook.Install(disk.OS, repo, command)
			if err != nil {
				return err
			}
			return a.print(done, func(w io.Writer) { fmt.Fprint(w, done) })
		},
	}
	f.on(cmd)
	cmd.Flags().StringVar(&repo, "repo", "", "the bare repository")
	return cmd
}

// hookLine is what the script runs. A file that cannot be read is told now, and
// not to everybody who pushes.
func (a *app) hookLine(f hookFlags) ([]string, error) {
	program, err := a.env.Executable()
	if err != nil {
		return nil, err
	}
	setup, err := f.setup()
	if err == nil {
		_, err = setup.Options(disk.OS, time.Now)
	}
	if err != nil {
		return nil, err
	}
	given, err := f.Absolute()
	if err != nil {
		return nil, err
	}
	line := []string{program, "hub", "hook", "pre-receive"}
	if f.config != "" {
		path, err := filepath.Abs(f.config)
		if err != nil {
			return nil, err
		}
		line = append(line, "--config", path)
	}
	for _, word := range []struct{ flag, value string }{
		{"--keys", given.Keys}, {"--policy", given.Policy}, {"--fingerprints", given.Fingerprints}, {"--members", given.Members},
		{"--hub-key", given.HubKey}, {"--audit", given.Audit}, {"--space", given.Space}, {"--owner", given.Owner}, {"--timeout", given.Timeout},
	} {
		if word.value != "" {
			line = append(line, word.flag, word.value)
		}
	}
	if given.AuditMiB > 0 {
		line = append(line, "--audit-mib", strconv.Itoa(given.AuditMiB))
	}
	return line, nil
}

func (a *app) hubHookExportCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use: "export DIR --data DIR", Short: "Write what a hook needs to know of a hub's members and policy", Args: args(1, 1),
		Long: `Write into a folder what "cairn hub hook pre-receive" on another server judges by: the hub's public key,
the signed list of devices, and every signed version of the policy with the team's key for fingerprints.
Run it again after a change; no private key is among the files.`,
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			if data == "" {
				return usage("say which hub with --data DIR")
			}
			h, err := hub.Open(data, hub.Options{Log: a.logger()})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.Close()) }()
			done, err := h.ExportGate(cmd.Context(), words[0])
			if err != nil {
				return err
			}
			return a.print(done, func(w io.Writer) { fmt.Fprint(w, done) })
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the hub's folder")
	return cmd
}
