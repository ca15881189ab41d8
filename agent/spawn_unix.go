//go:build unix

package agent

import (
	"os/exec"
	"syscall"
)

// spawn starts a program that outlives this process and its terminal.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	// If it ends while this process lives it must not stay a zombie.
	go cmd.Wait()
	return nil
}
