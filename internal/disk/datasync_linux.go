package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func datasync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = conn.Control(func(fd uintptr) {
		for {
			if failure = unix.Fdatasync(int(fd)); !errors.Is(failure, unix.EINTR) {
				return
			}
		}
	})
	if err == nil {
		err = os.NewSyscallError("fdatasync", failure)
	}
	if err != nil {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return nil
}
