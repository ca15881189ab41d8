package background

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kardianos/service"
)

// systemd keeps the agent as a user unit.
type systemd struct {
	unit string
	host host
}

func newSystemd(spec Spec, h host) *systemd {
	return &systemd{unit: systemdUnit(spec), host: h}
}

// mark is the first line of what cairn registers, as far as it is the same in all of them.
const mark = `Written by cairn; "cairn agent uninstall" removes it.`

// systemdUnit leaves out the options that need a mount namespace: in a user's manager they are not reliable, and they would
// hide directories that the agent keeps in step. AF_NETLINK is for git, whose library asks the kernel for its addresses.
func systemdUnit(spec Spec) string {
	command := []string{unitQuote(spec.Binary, "%", "%%")}
	for _, arg := range spec.arguments() {
		command = append(command, unitQuote(arg, "%", "%%", "$", "$$"))
	}
	var env strings.Builder
	for _, name := range spec.variables() {
		fmt.Fprintf(&env, "Environment=%s\n", unitQuote(name+"="+spec.Env[name], "%", "%%"))
	}
	return `# ` + mark + `
[Unit]
Description=cairn shared memory agent
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=` + strings.Join(command, " ") + `
` + env.String() + `Restart=on-failure
RestartSec=2s
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
`
}

// unitQuote makes one word of s. What stands for itself is said in pairs: the character, and how it is written.
func unitQuote(s string, pairs ...string) string {
	pairs = append(pairs, `\`, `\\`, `"`, `\"`)
	return `"` + strings.NewReplacer(pairs...).Replace(s) + `"`
}

func (s *systemd) Preview() string { return s.unit }

func (s *systemd) path() string {
	return filepath.Join(s.host.home, ".config", "systemd", "user", "cairn.service")
}

// control is the library's hold on the unit, if there is a user manager that answers.
func (s *systemd) control(ctx context.Context) (control, error) {
	if _, err := s.host.run(ctx, "systemctl", "--user", "show-environment"); err != nil {
		return nil, &UnavailableError{Reason: "systemd does not serve this user", Err: err}
	}
	return s.host.control("linux-systemd", &service.Config{
		Name:   "cairn",
		Option: service.KeyValue{"UserService": true, "SystemdScript": s.unit},
	})
}

func (s *systemd) Install(ctx context.Context) error {
	c, err := s.control(ctx)
	if err != nil {
		return err
	}
	if strings.Contains(s.unit, "{{") {
		return errors.New("install the background service: a path holds two braces, which cannot be written into a unit")
	}
	state, err := registered(s.path(), s.unit, mark)
	if err != nil {
		return err
	}
	if err := s.place(ctx, c, state); err != nil {
		return fmt.Errorf("install the background service: %w", err)
	}
	return nil
}

func (s *systemd) place(ctx context.Context, c control, state registration) error {
	switch state {
	case sameFile:
		// An earlier try may have ended between the file and this.
		if _, err := s.host.run(ctx, "systemctl", "--user", "enable", "cairn.service"); err != nil {
			return err
		}
		return c.Start()
	case otherFile:
		if err := c.Uninstall(); err != nil {
			return err
		}
	}
	if err := c.Install(); err != nil {
		return err
	}
	return c.Restart() // the former unit may be running still
}

func (s *systemd) Uninstall(ctx context.Context) error {
	c, err := s.control(ctx)
	if err != nil {
		return err
	}
	if state, err := registered(s.path(), s.unit, mark); err != nil || state == noFile {
		return err
	}
	if err := c.Stop(); err != nil {
		return fmt.Errorf("stop the background service: %w", err)
	}
	if err := c.Uninstall(); err != nil {
		return fmt.Errorf("uninstall the background service: %w", err)
	}
	return nil
}

func (s *systemd) Start(ctx context.Context) error {
	return s.whenInstalled(ctx, "start", control.Start)
}

func (s *systemd) Stop(ctx context.Context) error {
	return s.whenInstalled(ctx, "stop", control.Stop)
}

func (s *systemd) whenInstalled(ctx context.Context, what string, do func(control) error) error {
	c, err := s.control(ctx)
	if err != nil {
		return err
	}
	state, err := registered(s.path(), s.unit, mark)
	if err == nil && state == noFile {
		err = ErrNotInstalled
	}
	if err == nil {
		err = do(c)
	}
	if err != nil {
		return fmt.Errorf("%s the background service: %w", what, err)
	}
	return nil
}

func (s *systemd) Status(ctx context.Context) (Status, error) {
	c, err := s.control(ctx)
	if err != nil {
		return NotInstalled, err
	}
	if state, err := registered(s.path(), s.unit, mark); err != nil || state == noFile {
		return NotInstalled, err
	}
	switch status, err := c.Status(); {
	case err == nil && status == service.StatusRunning:
		return Running, nil
	case err == nil:
		return Stopped, nil
	case errors.Is(err, service.ErrNotInstalled):
		return Stopped, nil // the file is there, and systemd has not read it
	default:
		return s.failed(ctx, err)
	}
}

// failed tells a service that failed from a question that failed: the library has the same kind of error for both.
func (s *systemd) failed(ctx context.Context, cause error) (Status, error) {
	if _, err := s.host.run(ctx, "systemctl", "--user", "is-failed", "--quiet", "cairn.service"); err == nil {
		return Failed, nil
	}
	return NotInstalled, fmt.Errorf("ask after the background service: %w", cause)
}
