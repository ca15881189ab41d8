package projection

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
)

// A Mark says up to where a set knows the log: it has every event of Tree.
// The zero Mark promises nothing.
type Mark struct {
	Epoch        uint64
	Commit, Tree [20]byte
	Events       int
}

// A frame on disk is its length and CRC-32C (both 4 bytes, little endian) and
// a body: the mark, the strings its facts use, the facts. Numbers in the body
// are varints; strings are named by their place, 0 for the empty one.
const frameHead = 8

// maxFrame is far above any frame that is written; a longer one is damage.
const maxFrame = 1 << 28

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame means that the bytes are no frame: torn by a crash, or damaged.
var errFrame = errors.New("no valid frame of facts")

func appendFrame(b []byte, m Mark, facts []Fact) []byte {
	start := len(b)
	b = append(b, make([]byte, frameHead)...)
	b = appendMark(b, m)
	b = appendFacts(b, facts)
	body := b[start+frameHead:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(body, castagnoli))
	return b
}

func appendMark(b []byte, m Mark) []byte {
	b = binary.AppendUvarint(b, m.Epoch)
	b = append(b, m.Commit[:]...)
	b = append(b, m.Tree[:]...)
	return binary.AppendUvarint(b, uint64(m.Events))
}

func appendFacts(b []byte, facts []Fact) []byte {
	strings := newNames()
	var body []byte
	for i := range facts {
		body = appendFact(body, &facts[i], &strings)
	}
	b = binary.AppendUvarint(b, uint64(len(strings.text)-1))
	for _, s := range strings.text[1:] {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(len(facts)))
	return append(b, body...)
}

// Which members follow in a fact.
const (
	hasKey = 1 << iota
	hasParent
	hasChain
	hasEnd
)

func appendFact(b []byte, f *Fact, strings *names) []byte {
	b = append(b, f.flags(), f.kind, byte(f.act))
	b = appendRef(b, f.id)
	b = append(b, f.content[:]...)
	if f.key != (Content{}) {
		b = append(b, f.key[:]...)
	}
	if f.act != actNone {
		b = appendRef(b, f.about)
	}
	if f.parent != (ref{}) {
		b = appendRef(b, f.parent)
	}
	if f.chain != (ref{}) {
		b = appendRef(b, f.chain)
	}
	b = binary.AppendVarint(b, f.observed)
	if f.validTo != forever {
		b = binary.AppendVarint(b, f.validTo)
	}
	for _, s := range []string{f.group, f.subject, f.actor, f.harness, f.device, f.project, f.tags} {
		b = binary.AppendUvarint(b, uint64(strings.add(s)))
	}
	return b
}

func (f *Fact) flags() byte {
	var flags byte
	set := func(bit byte, has bool) {
		if has {
			flags |= bit
		}
	}
	set(hasKey, f.key != Content{})
	set(hasParent, f.parent != ref{})
	set(hasChain, f.chain != ref{})
	set(hasEnd, f.validTo != forever)
	return flags
}

func appendRef(b []byte, r ref) []byte {
	b = binary.BigEndian.AppendUint64(b, r.hi)
	return binary.BigEndian.AppendUint64(b, r.lo)
}

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
