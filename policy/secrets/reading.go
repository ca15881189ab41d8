package secrets

import "hash/maphash"

// What reading one text may cost. Beyond any of these it is refused as
// TooComplex, never passed. The limits count work and not time, so that two
// machines come to one verdict.
const (
	maxGrowth   = 32      // bytes of derived views to one of the text: what all views of plain text may need
	maxDerived  = 1 << 20 // and beside that
	maxPacked   = 256     // encoded runs that hold compressed or UTF-16 data
	maxInflated = 1 << 20 // bytes out of compressed runs
	maxUnescape = 3       // rounds of escaping
	maxDecode   = 3       // encodings in one another
	maxFindings = 1000    // kept of one text; it is refused at the first
	maxTried    = 1 << 26 // steps that a team's own expressions may take

	maxTriedGrowth = 256 // and those for each byte of the text
)

// A reading goes through all views of one text.
type reading struct {
	*Scanner
	raw      []byte
	queue    []view
	seen     map[uint64]bool
	findings []Finding
	derived  int
	packed   int
	inflated int
	tried    int64 // steps
	excused  []excused
}

var hashSeed = maphash.MakeSeed()

// read refuses what panics: it has not been read to its end. The panic may quote
// the text, so nothing is said of it.
func (s *Scanner) read(text []byte) (found []Finding) {
	defer func() {
		if recover() != nil {
			found = []Finding{{Rule: TooComplex, End: len(text)}}
		}
	}()
	return s.readAll(text)
}

func (s *Scanner) readAll(text []byte) []Finding {
	r := &reading{Scanner: s, raw: text, seen: map[uint64]bool{}}
	r.queue = append(r.queue, view{text: text})
	for len(r.queue) > 0 {
		v := r.queue[0]
		r.queue = r.queue[1:]
		s.engine.match(v, r.report)
		if !r.matchOwn(v) || !r.derive(v) || len(r.findings) >= maxFindings {
			r.findings = append(r.findings, Finding{Rule: TooComplex, End: len(text)})
			break
		}
	}
	return sorted(r.findings)
}

// report keeps one finding of a rule for each place in the raw text: most
// views show the same secret again.
func (r *reading) report(v view, rule *rule, m match) {
	r.note(v, Finding{Rule: rule.id, Certain: m.certain || rule.block}, m)
}

// derive queues the views that v leads to. It returns false when the budget
// is used up.
func (r *reading) derive(v view) bool {
	switch v.kind {
	case asUnquoted, asQuotedPrintable, asNumbers, asSpelled, asReversed, asRotated:
		return true // the other views of the text it was made from do the rest
	case asJoined, asPieced:
		return r.decode(v)
	}
	if !r.queueIf(readUTF16(v)) || !r.queueIf(readTags(v)) || !r.queueIf(readSelectors(v)) || !r.inflate(v) {
		return false
	}
	if folded, ok := fold(v); ok {
		return r.queueIf(folded, true) // it leads to all that follows
	}
	if v.unescaped < maxUnescape && !r.queueIf(unescape(v)) {
		return false
	}
	if v.unescaped == 0 && v.decoded == 0 && !(r.queueIf(reverse(v)) && r.queueIf(rotate(v))) {
		return false
	}
	return r.queueIf(unquote(v)) && r.queueIf(readQuotedPrintable(v)) && r.queueIf(readNumbers(v)) && r.queueIf(readSpelled(v)) && r.queueIf(readPieces(v)) &&
		r.queueIf(join(v)) && r.decode(v)
}

// queueIf queues a view that is there and new.
func (r *reading) queueIf(v view, ok bool) bool {
	if !ok || len(v.text) == 0 || v.kind == r.engine.without {
		return true
	}
	r.derived += len(v.text)
	if r.derived > maxDerived+maxGrowth*len(r.raw) {
		return false
	}
	hash := maphash.Bytes(hashSeed, v.text)
	if v.kind.scrambled() && r.seen[hash^1] {
		return true // read in full already
	}
	if !v.kind.scrambled() {
		hash ^= 1
	}
	if !r.seen[hash] {
		r.seen[hash] = true
		r.queue = append(r.queue, v)
	}
	return true
}

// decode queues what the encoded runs of v stand for: all texts of one
// encoding as one view, compressed and UTF-16 data apart.
func (r *reading) decode(v view) bool {
	fits := true
	for _, enc := range encodings {
		var text []byte
		var runs []run
		eachRun(v.text, enc.in, func(s span) {
			for shift := range enc.alignments {
				plain := enc.decode(s.in(v.text)[shift:])
				if isCompressed(plain) || isUTF16(plain) {
					r.packed++
					fits = fits && r.packed <= maxPacked && r.queueInner(v, asDecoded, plain, []run{{0, s}})
				}
				if found := stretches(plain); len(found) > 0 {
					runs = append(runs, run{len(text), s})
					text = append(text, found...)
				}
			}
		})
		fits = fits && r.queueInner(v, asDecoded, text, runs)
	}
	return fits
}

// inflate queues what a compressed text holds.
func (r *reading) inflate(v view) bool {
	if !isCompressed(v.text) {
		return true
	}
	plain, err := inflate(v.text, maxInflated-r.inflated)
	if err != nil {
		return false
	}
	r.inflated += len(plain)
	return r.queueInner(v, asInflated, plain, []run{{0, span{0, len(v.text)}}})
}

// queueInner queues what is one encoding deeper than v.
func (r *reading) queueInner(v view, kind viewKind, text []byte, runs []run) bool {
	if len(text) == 0 {
		return true
	}
	if v.decoded >= maxDecode {
		return false
	}
	inner := v.standFor(kind, text, runs)
	inner.unescaped, inner.decoded = 0, v.decoded+1
	return r.queueIf(inner, true)
}
