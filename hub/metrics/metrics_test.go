package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cairn/hub/metrics"
)

func text(t *testing.T, r *metrics.Registry) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheTextFormat(t *testing.T) {
	t.Parallel()
	var r metrics.Registry
	c := r.Counter("pushes_total", "How many.\nAnd \\ more.", "verdict", "rule")
	c.Add(2, "refused", `a "rule"\`)
	c.Add(1, "refused", "line\nbreak\xff")
	c.Add(1, "refused", `a "rule"\`)
	r.Counter("plain_total", "Alone.")
	r.Gauge("open", "Now.", func() float64 { return 1.5 })
	r.CounterFunc("bytes_total", "Large.", func() float64 { return 12345678901 })
	h := r.Histogram("seconds", "Time.", 0.1, 1)
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		h.Observe(v)
	}
	const want = `# HELP pushes_total How many.\nAnd \\ more.
# TYPE pushes_total counter
pushes_total{verdict="refused",rule="a \"rule\"\\"} 3
pushes_total{verdict="refused",rule="line\nbreak�"} 1
# HELP plain_total Alone.
# TYPE plain_total counter
plain_total 0
# HELP open Now.
# TYPE open gauge
open 1.5
# HELP bytes_total Large.
# TYPE bytes_total counter
bytes_total 1.2345678901e+10
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 2
seconds_bucket{le="1"} 3
seconds_bucket{le="+Inf"} 4
seconds_sum 7.65
seconds_count 4
`
	if got := text(t, &r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// However many spaces there are, the answer stays short and the sum right.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	var r metrics.Registry
	c := r.Counter("moves_total", "Moves.", "space")
	var wg sync.WaitGroup
	for n := range 10 * metrics.MaxSeries {
		wg.Go(func() { c.Add(1, fmt.Sprint("space", n)) })
	}
	wg.Wait()
	got := text(t, &r)
	if n := strings.Count(got, "moves_total{"); n != metrics.MaxSeries+1 {
		t.Errorf("%d series", n)
	}
	if want := fmt.Sprintf("moves_total{space=%q} %d\n", metrics.Other, 9*metrics.MaxSeries); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

func TestOnlyALoopbackAddressIsServed(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:9464", "localhost:0", "example.org:80", "127.0.0.1", "", "[::ffff:10.0.0.1]:0"} {
		if l, err := metrics.Listen(addr); !errors.Is(err, metrics.ErrNotLoopback) {
			t.Errorf("%q: %v, %v", addr, l, err)
		}
	}
}

func TestMetricsOverHTTP(t *testing.T) {
	t.Parallel()
	var r metrics.Registry
	r.Counter("asked_total", "Asked.")
	l, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, l) }()
	for _, c := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/metrics", "", http.StatusOK},
		{"GET", "/metrics", "localhost:9464", http.StatusOK},
		{"GET", "/metrics", "[::1]", http.StatusOK},
		{"GET", "/metrics", "evil.example", http.StatusForbidden},
		{"POST", "/metrics", "", http.StatusMethodNotAllowed},
		{"GET", "/", "", http.StatusNotFound},
	} {
		q, err := http.NewRequestWithContext(ctx, c.method, "http://"+l.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = c.host
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		if err := errors.Join(err, a.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != c.status || (c.status == http.StatusOK) != strings.Contains(string(body), "asked_total 0\n") {
			t.Errorf("%+v: %d %q", c, a.StatusCode, body)
		}
		if c.status == http.StatusOK && a.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
			t.Errorf("%q", a.Header)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
