package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cairn/hub/gate"
	"cairn/hub/hook"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/policy"
	"cairn/policy/versions"
)

// hookFlags are what both commands take.
type hookFlags struct {
	keys, space, policy string
	timeout             time.Duration
}

func (f *hookFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.keys, "keys", "", "file with the public keys of the devices whose events are taken, one a line; every device's are without it")
	cmd.Flags().StringVar(&f.space, "space", "", "the space that the repository must be")
	cmd.Flags().StringVar(&f.policy, "policy", "", "a team's policy file, whose rules count beside the built-in ones; see docs/POLICY.md")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 10*time.Minute, "how long a push may take to be looked at; then it is refused")
}

func (a *app) hubHookCommand() *cobra.Command {
	c := group("hook", "The hub's gate in front of any git server's repository", "", a.preReceiveCommand(), a.hubHookInstallCommand())
	return c
}

func (a *app) preReceiveCommand() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use: "pre-receive [--keys FILE] [--space S] [--policy FILE]", Short: "Judge a push, as git's pre-receive hook", Args: args(0, 0),
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
	rules, err := readPolicy(f.policy)
	if err != nil {
		return nil, err
	}
	g := gate.Gate{Policy: rules, Space: f.space}
	o := hook.Options{
		FS: disk.OS, Event: g.Event, Raw: g.Raw, Space: f.space,
		Limits: repository.Limits{Whole: f.timeout}, Now: time.Now,
	}
	if o.Keys, err = readKeys(f.keys); err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return hook.Judge(ctx, hook.Call{Getenv: a.env.Getenv, Dir: dir, Stdin: a.env.Stdin}, o)
}

// readKeys is nil if no file is named.
func readKeys(path string) (map[event.DeviceID]bool, error) {
	if path == "" {
		return nil, nil
	}
	list, err := disk.ReadFile(disk.OS, path)
	if err != nil {
		return nil, fmt.Errorf("read the list of keys: %w", err)
	}
	return hook.ParseKeys(list)
}

// readPolicy is the built-in policy if no file is named.
func readPolicy(path string) (*policy.Policy, error) {
	if path == "" {
		return policy.Default(), nil
	}
	file, err := readPolicyFile(path)
	if err != nil {
		return nil, err
	}
	p, err := policy.Read(versions.First, file, nil, time.Now)
	if err != nil {
		return nil, fmt.Errorf("judge by a team's rules: %w", err)
	}
	return p, nil
}

func (a *app) hubHookInstallCommand() *cobra.Command {
	var f hookFlags
	var repo string
	cmd := &cobra.Command{
		Use: "install --repo DIR [--keys FILE] [--space S] [--policy FILE]", Short: "Put the gate in front of a bare repository", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repo == "" {
				return usage("say where with --repo DIR")
			}
			command, err := a.hookLine(f, cmd.Flags().Changed("timeout"))
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
func (a *app) hookLine(f hookFlags, timed bool) ([]string, error) {
	program, err := a.env.Executable()
	if err != nil {
		return nil, err
	}
	line := []string{program, "hub", "hook", "pre-receive"}
	if _, err := readKeys(f.keys); err != nil {
		return nil, err
	}
	if _, err := readPolicy(f.policy); err != nil {
		return nil, err
	}
	for _, file := range []struct{ flag, path string }{{"--keys", f.keys}, {"--policy", f.policy}} {
		if file.path == "" {
			continue
		}
		path, err := filepath.Abs(file.path)
		if err != nil {
			return nil, err
		}
		line = append(line, file.flag, path)
	}
	if f.space != "" {
		if !event.ValidSpaceName(f.space) {
			return nil, usage("this is not the name of a space")
		}
		line = append(line, "--space", f.space)
	}
	if timed {
		line = append(line, "--timeout", f.timeout.String())
	}
	return line, nil
}
