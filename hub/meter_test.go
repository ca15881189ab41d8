package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/devices"
	"cairn/hub/metrics"
	"cairn/hub/sshdoor"
	"cairn/internal/event"
	"cairn/sync/gitwire"
)

// counters serves the hub's metrics and returns how to ask for one.
func (h *house) counters() func(series string) float64 {
	h.t.Helper()
	l, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.ServeMetrics(ctx, l) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
	})
	return func(series string) float64 {
		h.t.Helper()
		value := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(page(h.t, l.Addr()))
		if value == nil {
			return 0
		}
		n, err := strconv.ParseFloat(value[1], 64)
		if err != nil {
			h.t.Fatal(err)
		}
		return n
	}
}

func page(t *testing.T, at net.Addr) string {
	t.Helper()
	a, err := http.Get("http://" + at.String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestMetricsTellWhatHappened(t *testing.T) {
	t.Parallel()
	decide := func(e event.Event) error {
		if strings.Contains(e.Payload.Body(), "forbidden") {
			return errors.New("no")
		}
		return nil
	}
	h := open(t, hub.Options{Decide: decide})
	count := h.counters()
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Read, "reader", "team")
	w := h.worker("laptop").clone("team")
	w.note("one")
	w.git("push", "--quiet", "origin", "main")
	w.append(note("team", "laptop", "forbidden"))
	w.refused([]string{"push", "origin", "main"}, "nothing of this push was stored")
	w.refused([]string{"push", "origin", "main:topic"}, "only main is taken")
	reader := h.worker("reader").clone("team")
	reader.refused([]string{"push", "origin", "main:topic"}, "may read the space")
	for series, want := range map[string]float64{
		`cairn_hub_pushes_total{verdict="taken"}`:          1,
		`cairn_hub_pushes_total{verdict="refused"}`:        3,
		`cairn_hub_push_rules_total{rule="policy"}`:        1,
		`cairn_hub_push_rules_total{rule="ref"}`:           1,
		`cairn_hub_push_rules_total{rule="hub_refused"}`:   1,
		`cairn_hub_push_judging_seconds_count`:             2,
		`cairn_hub_push_judging_seconds_bucket{le="+Inf"}`: 2,
		`cairn_hub_fetches_total{verdict="done"}`:          2,
		`cairn_hub_head_moves_total{space="team"}`:         1,
		`cairn_hub_audit_lost_total`:                       0,
		`cairn_hub_connections_refused_total`:              0,
	} {
		if got := count(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	for _, series := range []string{
		"cairn_hub_push_objects_total", "cairn_hub_connections_accepted_total", "cairn_hub_received_bytes_total",
		"cairn_hub_sent_bytes_total", "cairn_hub_heap_bytes", "cairn_hub_goroutines",
	} {
		if count(series) <= 0 {
			t.Errorf("%s is not counted", series)
		}
	}
}

// Who says nothing is counted, while it is there and when it is sent away.
func TestMetricsTellOfSilentVisitors(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{Door: sshdoor.Limits{Handshake: 200 * time.Millisecond}})
	count := h.counters()
	silent, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	eventually(t, "a visitor is counted", func() bool { return count("cairn_hub_connections_accepted_total") >= 1 })
	eventually(t, "it is sent away", func() bool {
		return count("cairn_hub_connections_dropped_total") == 1 && count("cairn_hub_connections_open") == 0
	})
}

// A session for which there is no room is counted, and so is the room that others take.
func TestMetricsTellOfSessionsWithoutRoom(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{Door: sshdoor.Limits{Room: 2 << 20, Line: 10 * time.Millisecond}})
	count := h.counters()
	h.member("ana", devices.Write, "laptop", "team")
	c := h.as("laptop")
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.StdinPipe() // which stays open, and so does the session
	if err := errors.Join(err, s.Start("git-receive-pack 'team'")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("there is room for another one")
	}
	if refused, room := count("cairn_hub_sessions_refused_total"), count("cairn_hub_session_room_bytes"); refused != 1 || room != 2<<20 {
		t.Errorf("%v sessions were refused, %v bytes are taken", refused, room)
	}
}

// A machine that finds nothing new leaves without a word, each time it looks.
// That is no failed fetch: an alert on those would never be silent.
func TestALookIsNoFailedFetch(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	count := h.counters()
	h.member("ana", devices.Write, "laptop", "team")
	m := h.replicate("laptop")
	m.save("one")
	for range 3 {
		m.sync()
	}
	eventually(t, "each look is counted", func() bool { return count(`cairn_hub_fetches_total{verdict="done"}`) >= 3 })
	if n := count(`cairn_hub_fetches_total{verdict="failed"}`); n > 0 {
		t.Errorf("%v are called failed", n)
	}
	h.as("laptop").asksAndLeaves("git-upload-pack 'team'")
	eventually(t, "a fetch that breaks off is counted", func() bool { return count(`cairn_hub_fetches_total{verdict="failed"}`) == 1 })
}

// asksAndLeaves goes away in the middle of saying what it wants.
func (c *terminal) asksAndLeaves(line string) {
	c.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		c.t.Fatal(err)
	}
	in, inErr := s.StdinPipe()
	out, outErr := s.StdoutPipe()
	if err := errors.Join(inErr, outErr, s.Start(line)); err != nil {
		c.t.Fatal(err)
	}
	ad, err := gitwire.ReadAdvert(out)
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = fmt.Fprintf(in, "0032want %s\n", ad.Refs[event.MainRef])
	if err := errors.Join(err, s.Close()); err != nil {
		c.t.Fatal(err)
	}
}

func TestMetricsTellOfLostRecords(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	count := h.counters()
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop").clone("team")
	w.note("one")
	audits := filepath.Join(h.dir, "audit")
	if err := errors.Join(os.RemoveAll(audits), os.WriteFile(audits, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.run("push", "--quiet", "origin", "main"); count("cairn_hub_audit_lost_total") != 1 {
		t.Errorf("a lost record is not counted; the push: %v", err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to that: %s", what)
		}
	}
}
