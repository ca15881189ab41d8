package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// ErrNotLoopback says that an address can be reached from elsewhere. What a hub
// counts is nobody's business but its operator's, and is served without a login.
var ErrNotLoopback = errors.New("metrics are served on a loopback address only, such as 127.0.0.1:9464")

// Listen listens on a loopback address with a port, given in numbers: a name
// could lead anywhere. Errors: ErrNotLoopback, and those of the network.
func Listen(addr string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return nil, ErrNotLoopback
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	return l, nil
}

const contentType = "text/plain; version=0.0.4; charset=utf-8"

// patience is how long a client may take for its question, and for the answer.
const patience = 10 * time.Second

// Serve answers GET /metrics on l until ctx ends, and closes it.
func (r *Registry) Serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", r.answer)
	s := &http.Server{Handler: mux, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10}
	unhook := context.AfterFunc(ctx, func() { _ = s.Close() }) // Serve says how it ended
	defer unhook()
	if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

func (r *Registry) answer(w http.ResponseWriter, q *http.Request) {
	// A web page that has its own name lead here, in a browser on this machine,
	// gets nothing.
	if !isLoopback(q.Host) {
		http.Error(w, "ask for a loopback address", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_ = r.WriteText(w) // a client that is gone is nobody's loss
}

func isLoopback(host string) bool {
	name := strings.Trim(host, "[]")
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
