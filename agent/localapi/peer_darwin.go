package localapi

import "golang.org/x/sys/unix"

// peerUID is the user that made or accepted the other end of a socket, as
// unix(4) tells with LOCAL_PEERCRED.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
