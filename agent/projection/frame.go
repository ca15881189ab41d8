package projection

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
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

// classShift is where the flags of a fact hold its class, in two bits.
const classShift = 4

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
	return flags | f.class<<classShift
}

func appendRef(b []byte, r ref) []byte {
	b = binary.BigEndian.AppendUint64(b, r.hi)
	return binary.BigEndian.AppendUint64(b, r.lo)
}
