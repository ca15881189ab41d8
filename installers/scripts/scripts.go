package scripts

import _ "embed"

// The scripts, with a line end of one character.
var (
	//go:embed install.sh
	installSh string
	//go:embed uninstall.sh
	uninstallSh string
	//go:embed install.ps1
	installPs1 string
	//go:embed uninstall.ps1
	uninstallPs1 string
)

// Install is the script that installs cairn on a system, named as in runtime.GOOS, with the name of its file.
func Install(goos string) (name, text string) {
	if goos == "windows" {
		return "install.ps1", installPs1
	}
	return "install.sh", installSh
}

// Uninstall is the script that undoes Install, with the name of its file.
func Uninstall(goos string) (name, text string) {
	if goos == "windows" {
		return "uninstall.ps1", uninstallPs1
	}
	return "uninstall.sh", uninstallSh
}
