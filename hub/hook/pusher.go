package hook

import (
	"net/netip"
	"strings"
)

// A Pusher is who pushes, as far as the git server says so.
type Pusher struct {
	Name string // at the server; "" if it does not say
	Addr string // from where
	// Login says that Name is somebody's own: the server has told who it is, not
	// just under which of its accounts git runs.
	Login bool
}

// maxName bounds the name of a pusher; a longer one is cut.
const maxName = 100

// logins are the variables in which servers name who has logged in: GitLab,
// Gitea and Forgejo, gitolite, and git's own http-backend.
var logins = []string{"GL_USERNAME", "GITEA_PUSHER_NAME", "GL_USER", "REMOTE_USER"}

// PusherOf reads what a git server tells its hooks. Where nobody is named, the
// account stands for who came over ssh.
func PusherOf(getenv func(string) string) Pusher {
	var p Pusher
	for _, name := range logins {
		if p.Name = readable(getenv(name)); p.Name != "" {
			p.Login = true
			break
		}
	}
	ssh, _, _ := strings.Cut(getenv("SSH_CONNECTION"), " ")
	for _, text := range []string{ssh, getenv("REMOTE_ADDR")} {
		if at, err := netip.ParseAddr(text); err == nil && p.Addr == "" {
			p.Addr = at.String()
		}
	}
	if p.Name == "" && ssh != "" {
		p.Name = readable(getenv("LOGNAME"))
	}
	return p
}

// readable is a name as it may stand in a record: letters, digits and what
// names are parted with.
func readable(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._-@+", r):
			return r
		}
		return '-'
	}, name)
	return name[:min(len(name), maxName)]
}
