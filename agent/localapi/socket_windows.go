package localapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"cairn/internal/paths"
)

// chooseAddress makes a pipe name that cannot be guessed: pipes live in a
// namespace that all users share, and whoever takes a name first has it.
func chooseAddress(home paths.Home) (address, error) {
	hash, err := homeHash(home)
	if err != nil {
		return address{}, err
	}
	name := `\\.\pipe\cairn-` + hash + "-" + rand.Text()
	return address{path: name, note: name}, nil
}

// listen lets only the user of this process open the pipe.
func listen(path string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("ask who we are: %w", err)
	}
	return winio.ListenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")",
	})
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, path)
}

// dialError tells nobody from somebody who is too busy to accept.
func dialError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w (%w)", ErrAbsent, err)
	case errors.Is(err, windows.ERROR_PIPE_BUSY):
		return fmt.Errorf("%w (%w)", ErrHung, err)
	}
	return err
}

// checkPeer has nothing to add: the pipe's security descriptor keeps others
// out, and its name is known only to those who can read the home.
func checkPeer(net.Conn) error { return nil }
