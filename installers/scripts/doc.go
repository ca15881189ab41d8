// Package scripts holds the scripts that put cairn on a machine for one user and take it away again, without an
// administrator's rights: in the shell for Linux and macOS, in PowerShell for Windows. They are in the program, so that any
// copy of it can hand them out.
//
// Installing twice is installing once. The program gets a place that stays the same over upgrades, because AI tools and the
// background service are told that place. Uninstalling disconnects the tools first and leaves the memory where it is.
//
// They leave out on purpose downloading anything: a script is given a program, or builds it from the checkout it lies in.
package scripts
