package hub

import (
	"context"
	"net"
	"runtime"

	"cairn/hub/audit"
	"cairn/hub/metrics"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
)

// A meter counts what the hub does. None of its labels is a word of a user's,
// but for the names of shared spaces, which admins choose.
type meter struct {
	registry metrics.Registry
	pushes   *metrics.Counter
	refusals *metrics.Counter
	fetches  *metrics.Counter
	objects  *metrics.Counter
	heads    *metrics.Counter
	judging  *metrics.Histogram
}

// newMeter makes the counters. The door and the audit log are asked for the
// others.
func newMeter(door func() sshdoor.Tally, lost func() uint64) *meter {
	m := new(meter)
	r := &m.registry
	m.pushes = r.Counter("cairn_hub_pushes_total", "Pushes, by verdict.", "verdict")
	m.refusals = r.Counter("cairn_hub_push_rules_total", "Rules that refused pushes broke, each once a push.", "rule")
	m.judging = r.Histogram("cairn_hub_push_judging_seconds", "How long the objects of a push were looked at.",
		.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100)
	m.objects = r.Counter("cairn_hub_push_objects_total", "Git objects that arrived in packs.")
	m.heads = r.Counter("cairn_hub_head_moves_total", "Pushes that a space's branch took in; personal spaces together.", "space")
	m.fetches = r.Counter("cairn_hub_fetches_total", "Fetches and clones, by outcome.", "verdict")
	r.CounterFunc("cairn_hub_audit_lost_total", "Records that could not be written to the audit log.", func() float64 { return float64(lost()) })
	for _, f := range []struct {
		name, help string
		value      func(sshdoor.Tally) float64
	}{
		{"cairn_hub_connections_accepted_total", "Connections that might try to log in.", func(t sshdoor.Tally) float64 { return float64(t.Accepted) }},
		{"cairn_hub_connections_refused_total", "Connections that were turned away before a login.", func(t sshdoor.Tally) float64 { return float64(t.Refused) }},
		{"cairn_hub_connections_dropped_total", "Connections that the hub ended: silent, stuck, or no longer welcome.", func(t sshdoor.Tally) float64 { return float64(t.Dropped) }},
		{"cairn_hub_sessions_refused_total", "Sessions that were not opened: too many on a connection, or no room for what they may send.", func(t sshdoor.Tally) float64 { return float64(t.Unopened) }},
		{"cairn_hub_received_bytes_total", "Bytes from clients, as they came over the network.", func(t sshdoor.Tally) float64 { return float64(t.Received) }},
		{"cairn_hub_sent_bytes_total", "Bytes to clients.", func(t sshdoor.Tally) float64 { return float64(t.Sent) }},
	} {
		r.CounterFunc(f.name, f.help, func() float64 { return f.value(door()) })
	}
	r.Gauge("cairn_hub_connections_open", "Connections now.", func() float64 { return float64(door().Open) })
	r.Gauge("cairn_hub_commands_running", "Commands that run now: pushes, fetches, watches, administration.", func() float64 { return float64(door().Sessions) })
	r.Gauge("cairn_hub_people_slowed", "People whose next sessions wait, because something of theirs was refused before all of it was read.", func() float64 { return float64(door().Slowed) })
	r.Gauge("cairn_hub_session_room_bytes", "What clients may have sent to commands and none has read.", func() float64 { return float64(door().Room) })
	r.Gauge("cairn_hub_goroutines", "Goroutines of the process.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("cairn_hub_heap_bytes", "Memory that the process uses for its objects.", heap)
	return m
}

func heap() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapInuse)
}

// pushed counts a push that asked for anything.
func (m *meter) pushed(space string, out repository.Outcome, verdict string) {
	m.pushes.Add(1, verdict)
	m.objects.Add(int64(out.Objects))
	for _, rule := range out.Rules {
		m.refusals.Add(1, rule)
	}
	if out.Judging > 0 {
		m.judging.Observe(out.Judging.Seconds())
	}
	if out.Taken {
		m.heads.Add(1, space)
	}
}

// fetched counts a fetch that ended with err.
func (m *meter) fetched(err error) {
	if err != nil {
		m.fetches.Add(1, audit.Failed)
		return
	}
	m.fetches.Add(1, audit.Done)
}

// ServeMetrics answers with the hub's counters, in the text format of
// Prometheus, until ctx ends. It closes l, which metrics.Listen has made.
func (h *Hub) ServeMetrics(ctx context.Context, l net.Listener) error {
	return h.meter.registry.Serve(ctx, l)
}
