package localapi

import (
	"fmt"
	"net"

	"cairn/internal/disk"
	"cairn/internal/paths"
)

// An Owner is the one process that may write the index of a home, sync its
// spaces and serve its socket. It stays the owner until Release, or until the
// process ends in whatever way. Its methods are not safe for concurrent use.
type Owner struct {
	home paths.Home
	lock *disk.FileLock
}

// Own makes this process the owner of home, without waiting. The folder must
// exist. If there is an owner already, in this process or another, the error
// is a *disk.LockedError: dial it.
func Own(home paths.Home) (*Owner, error) {
	lock, err := disk.TryLock(home.OwnerLock())
	if err != nil {
		return nil, fmt.Errorf("own %s: %w", home, err)
	}
	return &Owner{home: home, lock: lock}, nil
}

// Listen opens the socket of the home and records its address. A socket that
// a dead process left behind is replaced. The caller closes the listener
// before it calls Release. Errors: ErrServed, *UnsafeFolderError, or one of
// the system.
//
// Accept returns only connections of the same user; others are closed.
func (o *Owner) Listen() (net.Listener, error) {
	addr, err := chooseAddress(o.home)
	if err != nil {
		return nil, fmt.Errorf("choose a socket for %s: %w", o.home, err)
	}
	ln, err := listen(addr.path)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", addr.path, err)
	}
	if err := record(o.home, addr); err != nil {
		ln.Close()
		return nil, fmt.Errorf("record the socket of %s: %w", o.home, err)
	}
	return sameUser{ln}, nil
}

// Release ends the ownership. It must be called exactly once.
func (o *Owner) Release() error { return o.lock.Unlock() }

// sameUser is a listener that lets in nobody else.
type sameUser struct{ net.Listener }

func (l sameUser) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if checkPeer(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}
