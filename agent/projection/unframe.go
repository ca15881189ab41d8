package projection

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// cutFrame reads the first frame of b and returns the bytes behind it. The
// facts are put into the room of the given ones.
func cutFrame(b []byte, room []Fact) (Mark, []Fact, []byte, error) {
	if len(b) < frameHead {
		return Mark{}, nil, nil, errFrame
	}
	size := binary.LittleEndian.Uint32(b)
	want := binary.LittleEndian.Uint32(b[4:])
	body := b[frameHead:]
	// An empty body fits a checksum of zero, as in a file that a power cut
	// left full of zeros.
	if size == 0 || size > maxFrame || uint64(size) > uint64(len(body)) {
		return Mark{}, nil, nil, errFrame
	}
	rest := body[size:]
	body = body[:size]
	if crc32.Checksum(body, castagnoli) != want {
		return Mark{}, nil, nil, errFrame
	}
	c := &cursor{b: body}
	m := c.mark()
	facts := c.facts(room)
	if c.bad || len(c.b) > 0 {
		return Mark{}, nil, nil, errFrame
	}
	return m, facts, rest, nil
}

// A cursor reads a body from its start. After a fault it is bad and yields
// zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) uint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) int() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads how many things of at least size bytes each follow, so that no
// more room is made than the input can fill.
func (c *cursor) count(size int) int {
	n := c.uint()
	if n > uint64(len(c.b)/size) {
		c.bad, c.b = true, nil
		return 0
	}
	return int(n)
}

func (c *cursor) ref() ref {
	b := c.take(16)
	if c.bad {
		return ref{}
	}
	return ref{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (c *cursor) content() (out Content) {
	copy(out[:], c.take(16))
	return out
}

func (c *cursor) mark() Mark {
	var m Mark
	m.Epoch = c.uint()
	copy(m.Commit[:], c.take(20))
	copy(m.Tree[:], c.take(20))
	m.Events = int(c.uint())
	return m
}

func (c *cursor) facts(room []Fact) []Fact {
	text := make([]string, 1, 1+c.count(1))
	for len(text) < cap(text) && !c.bad {
		text = append(text, string(c.take(c.uint())))
	}
	const smallest = 3 + 16 + 16 + 1 + 7
	n := c.count(smallest)
	facts := slices.Grow(room[:0], n)[:n]
	clear(facts)
	for i := range facts {
		c.fact(&facts[i], text)
	}
	return facts
}

func (c *cursor) fact(f *Fact, text []string) {
	head := c.take(3)
	if c.bad {
		return
	}
	flags := head[0]
	f.kind, f.act = head[1], act(head[2])
	f.class = flags >> classShift & 3
	if int(f.kind) > len(kinds) || f.act > actDoubt {
		c.bad = true
		return
	}
	f.id, f.content = c.ref(), c.content()
	if flags&hasKey != 0 {
		f.key = c.content()
	}
	if f.act != actNone {
		f.about = c.ref()
	}
	if flags&hasParent != 0 {
		f.parent = c.ref()
	}
	if flags&hasChain != 0 {
		f.chain = c.ref()
	}
	f.observed, f.validTo = c.int(), forever
	if flags&hasEnd != 0 {
		f.validTo = c.int()
	}
	for _, s := range []*string{&f.group, &f.subject, &f.actor, &f.harness, &f.device, &f.project, &f.tags} {
		*s = c.name(text)
	}
}

func (c *cursor) name(text []string) string {
	i := c.uint()
	if i >= uint64(len(text)) {
		c.bad = true
		return ""
	}
	return text[i]
}
