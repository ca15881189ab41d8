package background

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kardianos/service"
)

const launchdLabel = "cairn.agent"

// launchd keeps the agent as a launch agent of the user's session.
type launchd struct {
	plist string
	host  host
}

func newLaunchd(spec Spec, h host) *launchd {
	return &launchd{plist: launchdPlist(spec), host: h}
}

// launchdPlist does not limit the session type: a limited agent cannot be loaded over SSH. It asks for a restart only after
// a failure, so that "cairn agent stop" is not undone. 63 is the file mask 077.
func launchdPlist(spec Spec) string {
	var args, env strings.Builder
	for _, arg := range append([]string{spec.Binary}, spec.arguments()...) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlText(arg))
	}
	for _, name := range spec.variables() {
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", xmlText(name), xmlText(spec.Env[name]))
	}
	log := xmlText(spec.Home + "/agent.log")
	return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ` + mark + ` -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>EnvironmentVariables</key>
	<dict>
` + env.String() + `	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardOutPath</key>
	<string>` + log + `</string>
	<key>StandardErrorPath</key>
	<string>` + log + `</string>
</dict>
</plist>
`
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func xmlText(s string) string { return xmlEscaper.Replace(s) }

func (l *launchd) Preview() string { return l.plist }

func (l *launchd) path() string {
	return filepath.Join(l.host.home, "Library", "LaunchAgents", launchdLabel+".plist")
}

func (l *launchd) domain() string  { return "gui/" + strconv.Itoa(l.host.uid) }
func (l *launchd) service() string { return l.domain() + "/" + launchdLabel }

func (l *launchd) control() (control, error) {
	return l.host.control("darwin-launchd", &service.Config{
		Name:   launchdLabel,
		Option: service.KeyValue{"UserService": true, "LaunchdConfig": l.plist},
	})
}

func (l *launchd) Install(ctx context.Context) error {
	c, err := l.control()
	if err != nil {
		return err
	}
	if strings.Contains(l.plist, "{{") {
		return errors.New("install the background service: a path holds two braces, which cannot be written into a property list")
	}
	state, err := registered(l.path(), l.plist, mark)
	if err != nil {
		return err
	}
	if state == otherFile {
		if err := l.remove(ctx, c); err != nil {
			return err
		}
	}
	if state != sameFile {
		if err := c.Install(); err != nil {
			return fmt.Errorf("install the background service: %w", err)
		}
	}
	return l.Start(ctx)
}

func (l *launchd) Uninstall(ctx context.Context) error {
	c, err := l.control()
	if err != nil {
		return err
	}
	if state, err := registered(l.path(), l.plist, mark); err != nil || state == noFile {
		return err
	}
	return l.remove(ctx, c)
}

func (l *launchd) remove(ctx context.Context, c control) error {
	if err := l.unload(ctx); err != nil {
		return err
	}
	if err := c.Uninstall(); err != nil {
		return fmt.Errorf("uninstall the background service: %w", err)
	}
	return nil
}

// Start loads the agent; launchd runs it when it is loaded. One that is loaded and ended is kicked.
func (l *launchd) Start(ctx context.Context) error {
	status, err := l.Status(ctx)
	switch {
	case err != nil || status == Running:
		return err
	case status == NotInstalled:
		return fmt.Errorf("start the background service: %w", ErrNotInstalled)
	case l.loaded(ctx):
		_, err = l.host.run(ctx, "launchctl", "kickstart", l.service())
	default:
		_, err = l.host.run(ctx, "launchctl", "bootstrap", l.domain(), l.path())
	}
	if err != nil {
		return fmt.Errorf("start the background service: %w", err)
	}
	return nil
}

func (l *launchd) Stop(ctx context.Context) error {
	state, err := registered(l.path(), l.plist, mark)
	if err != nil {
		return err
	}
	if state == noFile {
		return fmt.Errorf("stop the background service: %w", ErrNotInstalled)
	}
	return l.unload(ctx)
}

func (l *launchd) unload(ctx context.Context) error {
	if !l.loaded(ctx) {
		return nil
	}
	if _, err := l.host.run(ctx, "launchctl", "bootout", l.service()); err != nil && l.loaded(ctx) {
		return fmt.Errorf("stop the background service: %w", err)
	}
	return nil
}

func (l *launchd) loaded(ctx context.Context) bool {
	_, err := l.host.run(ctx, "launchctl", "print", l.service())
	return err == nil
}

func (l *launchd) Status(ctx context.Context) (Status, error) {
	if state, err := registered(l.path(), l.plist, mark); err != nil || state == noFile {
		return NotInstalled, err
	}
	said, err := l.host.run(ctx, "launchctl", "print", l.service())
	switch {
	case err != nil:
		return Stopped, nil // launchctl fails for what is not loaded
	case strings.Contains(said, "state = running"):
		return Running, nil
	case strings.Contains(said, "last exit code = ") && !strings.Contains(said, "last exit code = 0") && !strings.Contains(said, "(never exited)"):
		return Failed, nil
	default:
		return Stopped, nil
	}
}
