package command

import "runtime/debug"

// version is set by a release build: -ldflags "-X cairn/cmd/cairn/command.version=1.2.3".
var version string

// Version is the program's version: that of the release, else of the module
// as it was built, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
