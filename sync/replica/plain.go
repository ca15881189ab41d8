package replica

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"cairn/internal/disk"
)

// Plain is any git repository as a remote: a path, file://, https, or ssh in
// either of git's two forms. With ssh it logs in as stock ssh would, by the
// agent or the keys in the user's .ssh folder, to a host that is in
// known_hosts; with https by what git's credential helpers or the user's netrc
// file know of the host.
func Plain(fsys disk.FS, address string) (Remote, error) {
	if dir, ok := localPath(address); ok {
		return Path(fsys, dir), nil
	}
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		u, err := parseHTTP(address)
		if err != nil {
			return nil, err
		}
		return &wireRemote{where: u.Host, open: newHTTPHost(u, userLogins()).open}, nil
	}
	at, err := parseSSH(address)
	if err != nil {
		return nil, err
	}
	return &wireRemote{where: at.host, open: at.open}, nil
}

// localPath is the folder that an address names, if it names one.
func localPath(address string) (string, bool) {
	if rest, ok := strings.CutPrefix(address, "file://"); ok {
		return filepath.FromSlash(rest), true
	}
	if filepath.IsAbs(address) || strings.HasPrefix(address, ".") {
		return address, true
	}
	return "", false
}

// sshAddress is a repository behind ssh.
type sshAddress struct{ user, host, path string }

// The errors about an address do not repeat it: people put passwords there.
var (
	errAddress  = errors.New("this is not the address of a remote that cairn can sync with: give a path, https://host/path, ssh://user@host/path or user@host:path")
	errPassword = errors.New("a password in an address is stored and shown with it: leave it out, and log in with an ssh key")
)

// parseSSH reads ssh://user@host:port/path, and user@host:path as scp does.
func parseSSH(address string) (sshAddress, error) {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "ssh" || u.Hostname() == "" || len(u.Path) < 2 {
			return sshAddress{}, errAddress
		}
		if _, has := u.User.Password(); has {
			return sshAddress{}, errPassword
		}
		port := u.Port()
		if port == "" {
			port = "22"
		}
		return sshAddress{u.User.Username(), net.JoinHostPort(u.Hostname(), port), u.Path}, nil
	}
	where, path, ok := strings.Cut(address, ":")
	user, host, named := strings.Cut(where, "@")
	if !named {
		user, host = "", where
	}
	if !ok || host == "" || path == "" || strings.ContainsAny(host, `/\`) || strings.HasPrefix(path, `\`) {
		return sshAddress{}, errAddress
	}
	return sshAddress{user, net.JoinHostPort(host, "22"), path}, nil
}

// open starts a git service over a connection of its own.
func (a sshAddress) open(ctx context.Context, service string) (stream, error) {
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", a.host)
	if err != nil {
		return nil, offline("reach "+a.host, err)
	}
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	c, chans, reqs, err := ssh.NewClientConn(conn, a.host, config)
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		if strings.Contains(err.Error(), "unable to authenticate") || strings.Contains(err.Error(), "knownhosts") {
			return nil, &RefusedError{Message: a.host + ": " + err.Error()}
		}
		return nil, offline("log in at "+a.host, err)
	}
	client := ssh.NewClient(c, chans, reqs)
	s, err := startSession(ctx, client, service+" '"+strings.ReplaceAll(a.path, "'", `'\''`)+"'")
	if err != nil {
		client.Close()
		return nil, offline("talk to "+a.host, err)
	}
	return &oneSession{s, client}, nil
}

// oneSession is a session that ends its connection with it.
type oneSession struct {
	*session
	client *ssh.Client
}

func (s *oneSession) Close() error { return errors.Join(s.session.Close(), s.client.Close()) }

// config logs in as the user's own ssh would: the agent first, then the usual
// key files.
func (a sshAddress) config() (*ssh.ClientConfig, error) {
	user := a.user
	if user == "" {
		user = gitssh.DefaultUsername
	}
	known, err := gitssh.NewKnownHostsCallback()
	if err != nil {
		return nil, &RefusedError{Message: "no known_hosts file says which key " + a.host + " has: log in once with ssh"}
	}
	config := &ssh.ClientConfig{User: user, HostKeyCallback: known, Timeout: dialTimeout}
	if auth, err := gitssh.NewSSHAgentAuth(user); err == nil {
		config.Auth = append(config.Auth, ssh.PublicKeysCallback(auth.Callback))
	}
	if keys := userKeys(); len(keys) > 0 {
		config.Auth = append(config.Auth, ssh.PublicKeys(keys...))
	}
	return config, nil
}

// userKeys are the keys in the user's .ssh folder that need no passphrase.
func userKeys() []ssh.Signer {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var keys []ssh.Signer
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		b, err := os.ReadFile(filepath.Join(home, ".ssh", name))
		if err != nil {
			continue
		}
		if k, err := ssh.ParsePrivateKey(b); err == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// isNet says whether an error is one of the network.
func isNet(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
