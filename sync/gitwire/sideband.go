package gitwire

import (
	"io"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

const (
	// silence is how long nothing may be said. Then an empty packet is sent, so that no time limit on the way cuts a session
	// in which somebody computes.
	silence = 5 * time.Second
	// maxBand is how many bytes fit into a packet of side-band-64k: 65,520 less the length and the channel.
	maxBand = 65515
)

// muxer writes the channels of a side-band: data, messages, a fatal error. It is safe for concurrent use.
type muxer struct {
	mu     sync.Mutex // guards what follows, and keeps packets whole
	w      io.Writer
	err    error // the first failure; nothing is written after it
	spoke  bool  // since the last tick
	closed bool

	stop, stopped chan struct{}
}

// newMuxer returns a muxer on w and starts its keep-alive. end it.
func newMuxer(w io.Writer) *muxer {
	m := &muxer{w: w, stop: make(chan struct{}), stopped: make(chan struct{})}
	go m.keepAlive()
	return m
}

// Write sends p on the data channel.
func (m *muxer) Write(p []byte) (int, error) {
	if err := m.send(sideband.PackData, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (m *muxer) send(channel sideband.Channel, p []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(p) > 0 && m.err == nil && !m.closed {
		n := min(len(p), maxBand)
		m.packet(channel.WithPayload(p[:n]))
		p = p[n:]
	}
	return m.err
}

// packet writes one pkt-line with a single Write. Called with mu held.
func (m *muxer) packet(payload []byte) {
	line := packetWriter{}
	if m.err = pktline.NewEncoder(&line).Encode(payload); m.err == nil {
		_, m.err = m.w.Write(line)
	}
	m.spoke = true
}

type packetWriter []byte

func (w *packetWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// keepAlive sends an empty data packet, as stock git does, whenever nothing else was sent between two ticks.
func (m *muxer) keepAlive() {
	defer close(m.stopped)
	tick := time.NewTicker(silence)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.mu.Lock()
			if !m.spoke && m.err == nil && !m.closed {
				m.packet([]byte{byte(sideband.PackData)})
			}
			m.spoke = false
			m.mu.Unlock()
		}
	}
}

// end closes the side-band with a flush-pkt and stops the keep-alive. Further writes are dropped.
func (m *muxer) end() error {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.stop)
		if m.err == nil {
			m.err = pktline.NewEncoder(m.w).Flush()
		}
	}
	err := m.err
	m.mu.Unlock()
	<-m.stopped
	return err
}

// demuxer reads the data channel of a side-band and hands the messages on. It returns data as soon as there is some: a
// message must not wait until a pack is complete. Its end is the flush-pkt.
type demuxer struct {
	in       *lines
	messages splitter
	data     []byte
	err      error
}

func (d *demuxer) Read(p []byte) (int, error) {
	for len(d.data) == 0 && d.err == nil {
		d.data, d.err = d.packet()
	}
	if len(d.data) == 0 {
		return 0, d.err
	}
	n := copy(p, d.data)
	d.data = d.data[n:]
	return n, nil
}

// packet reads one packet and returns its data, if it has some.
func (d *demuxer) packet() ([]byte, error) {
	payload, err := d.in.next()
	switch {
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case len(payload) == 0:
		d.messages.end()
		return nil, io.EOF
	}
	switch sideband.Channel(payload[0]) {
	case sideband.PackData:
		return payload[1:], nil
	case sideband.ProgressMessage:
		d.messages.write(payload[1:])
		return nil, nil
	case sideband.ErrorMessage:
		d.messages.end()
		return nil, &RemoteError{oneLine(string(payload[1:]))}
	default:
		return nil, &ProtocolError{"a packet has an unknown side-band channel"}
	}
}
