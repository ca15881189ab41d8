// Package background registers the agent as a background service of one user, and starts, stops and asks after it: a user
// unit of systemd on Linux, a launch agent on macOS, a task at logon on Windows. No administrator's rights are needed.
//
// The service is a convenience. Without one, and where there is no service manager (in a container, in WSL without
// systemd), the agent is started on demand and ends when it is idle; the error that says so is an *UnavailableError.
//
// Installing twice is installing once, and so is uninstalling. A registration of the same name that cairn did not write is
// never touched. What is registered is text made by this package; github.com/kardianos/service puts it in place and talks to
// systemd. Its own texts are not used: its user units are wanted by a target that users do not have. On macOS the agent is
// loaded with the verbs that launchctl has had since 10.10, on Windows the package's services would need an administrator.
//
// It leaves out on purpose services for the whole machine, starting without a logon (on Linux, "loginctl enable-linger" is
// the user's to decide) and logs: the agent writes its own.
package background
