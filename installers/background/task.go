package background

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf16"

	"cairn/internal/lazyregexp"
)

// task keeps the agent as a task that starts when the user logs on, with the rights that the user has anyway.
type task struct {
	xml  string
	name string
	host host
}

var notInTaskName = lazyregexp.New(`[^A-Za-z0-9._-]+`)

func newTask(spec Spec, h host) (*task, error) {
	if len(spec.Env) > 0 {
		return nil, errors.New("a task of Windows cannot set environment variables; put the settings into the configuration file")
	}
	// Task names are shared by all users of the machine.
	return &task{xml: taskXML(spec, h.user), name: "cairn-" + notInTaskName().ReplaceAllString(h.user, "-"), host: h}, nil
}

// taskXML lifts the limits that the scheduler sets by default: on running time, and on running on a battery.
func taskXML(spec Spec, user string) string {
	args := make([]string, len(spec.arguments()))
	for i, arg := range spec.arguments() {
		args[i] = windowsWord(arg)
	}
	return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>cairn shared memory agent. ` + xmlText(mark) + `</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>` + xmlText(user) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>` + xmlText(user) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>` + xmlText(spec.Binary) + `</Command>
      <Arguments>` + xmlText(strings.Join(args, " ")) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

// windowsWord makes one argument of s for programs that take their command line apart by the rules of Microsoft's C library,
// as programs in Go do: a backslash is special only in front of a quote.
func windowsWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"") {
		return s
	}
	var out strings.Builder
	out.WriteByte('"')
	slashes := 0
	for _, r := range s {
		switch r {
		case '\\':
			slashes++
		case '"':
			out.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		out.WriteRune(r)
	}
	return out.String() + strings.Repeat(`\`, slashes) + `"`
}

func (t *task) Preview() string { return t.xml }

// Install replaces a task of the same name in one step. The name holds cairn's own and the user's.
func (t *task) Install(ctx context.Context) (err error) {
	if _, err := t.Status(ctx); err != nil {
		return err
	}
	file, err := t.write()
	if err != nil {
		return fmt.Errorf("install the background service: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	if err := t.schtasks(ctx, "install", "/Create", "/TN", t.name, "/XML", file, "/F"); err != nil {
		return err
	}
	return t.Start(ctx)
}

// write puts the XML where schtasks can read it, in the encoding that it wants.
func (t *task) write() (string, error) {
	f, err := os.CreateTemp("", "cairn-task-*.xml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(utf16LE(t.xml))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func utf16LE(s string) []byte {
	out := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(s, "\n", "\r\n"))) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

func (t *task) Uninstall(ctx context.Context) error {
	status, err := t.Status(ctx)
	if err != nil || status == NotInstalled {
		return err
	}
	if err := t.Stop(ctx); err != nil {
		return err
	}
	return t.schtasks(ctx, "uninstall", "/Delete", "/TN", t.name, "/F")
}

func (t *task) Start(ctx context.Context) error {
	status, err := t.Status(ctx)
	switch {
	case err != nil || status == Running:
		return err
	case status == NotInstalled:
		return fmt.Errorf("start the background service: %w", ErrNotInstalled)
	default:
		return t.schtasks(ctx, "start", "/Run", "/TN", t.name)
	}
}

func (t *task) Stop(ctx context.Context) error {
	status, err := t.Status(ctx)
	switch {
	case err != nil:
		return err
	case status == NotInstalled:
		return fmt.Errorf("stop the background service: %w", ErrNotInstalled)
	case status == Running:
		return t.schtasks(ctx, "stop", "/End", "/TN", t.name)
	default:
		return nil
	}
}

func (t *task) schtasks(ctx context.Context, what string, args ...string) error {
	if _, err := t.host.run(ctx, "schtasks", args...); err != nil {
		return fmt.Errorf("%s the background service: %w", what, err)
	}
	return nil
}

// Status asks PowerShell, whose answer is a number: schtasks answers in the language of the system.
func (t *task) Status(ctx context.Context) (Status, error) {
	if _, err := t.host.run(ctx, "schtasks", "/Query", "/TN", t.name); err != nil {
		if _, alive := t.host.run(ctx, "schtasks", "/Query"); alive != nil {
			return NotInstalled, &UnavailableError{Reason: "the task scheduler does not answer", Err: alive}
		}
		return NotInstalled, nil
	}
	const running = "4"
	said, err := t.host.run(ctx, "powershell", "-NoProfile", "-NonInteractive", "-Command",
		"(Get-ScheduledTask -TaskName '"+t.name+"').State.value__")
	switch {
	case err != nil:
		return NotInstalled, fmt.Errorf("ask after the background service: %w", err)
	case strings.TrimSpace(said) == running:
		return Running, nil
	default:
		return Stopped, nil
	}
}
