package localapi

import "golang.org/x/sys/unix"

// peerUID is the user that made or accepted the other end of a socket, as
// unix(7) tells with SO_PEERCRED.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
