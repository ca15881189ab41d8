package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// inNamespace is the variable that tells a test that it runs in its namespace.
const inNamespace = "CAIRN_TEST_NAMESPACE"

// The users that a test may be in a namespace of its own.
const (
	mounting = 0    // may mount file systems, which nobody else sees
	ordinary = 1000 // is subject to the permissions of files, also where the tests run as root
)

// namespaced runs the rest of a test as that user in a namespace of its own:
// it returns true there, and false outside once the test has ended there.
func namespaced(t *testing.T, user int) bool {
	t.Helper()
	if os.Getenv(inNamespace) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("NOT RUN: this system gives nobody a namespace of their own: %v", err)
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// smallDisk mounts a file system of that size over a folder, until the test ends.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
