package gitwire_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"cairn/sync/gitwire"
)

// daemon serves a repo over the git:// transport, which is the bare protocol behind one line that names the service. It
// returns the address and what the clients asked for.
func daemon(t *testing.T, r *repo) (url string, asked func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var requests []string
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed at the end of the test
			}
			wg.Go(func() {
				request, err := serveConn(r, conn.(*net.TCPConn))
				if err != nil {
					request += ": " + err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				requests = append(requests, request)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return "git://" + l.Addr().String() + "/team", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return requests
	}
}

func serveConn(r *repo, conn *net.TCPConn) (request string, err error) {
	defer conn.Close()
	defer io.Copy(io.Discard, conn) // closed with words unread, TCP would take back our answer
	defer conn.CloseWrite()
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Sscanf(string(size[:]), "%04x", &n); err != nil || n < 4 {
		return "", fmt.Errorf("bad request %q", size)
	}
	line := make([]byte, n-4)
	if _, err := io.ReadFull(conn, line); err != nil {
		return "", err
	}
	request = string(line)
	if strings.HasPrefix(request, "git-receive-pack ") {
		return request, r.servePush(context.Background(), conn)
	}
	return request, gitwire.ServeUpload(context.Background(), conn, r)
}
