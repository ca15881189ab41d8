package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
)

// The size of a digest, in bytes.
const (
	digestDefault = 4096
	digestMax     = 8000
	digestLine    = 120
)

// Digest is the list of pointers; see api.Agent. Newest first, refuted ones
// left out; 0 asks for the default size.
func (s *Service) Digest(ctx context.Context, size int) (string, error) {
	if size <= 0 {
		size = digestDefault
	}
	size = min(size, digestMax)
	spaces, err := s.chosen("")
	if err != nil {
		return "", err
	}
	s.catchUp(ctx, spaces, (*Service).levelFacts) // what is late is missing
	return s.digested.get(s.digestOf(spaces, size), s.opt.Now(), func() string {
		return s.makeDigest(spaces, size)
	}), nil
}

func (s *Service) makeDigest(spaces []*space, size int) string {
	list, total := s.pointers(spaces, size/digestShortest+1)
	d := digest{size: size, left: total}
	for _, r := range list {
		hits, _ := readHits([]ranked{r}, "")
		if len(hits) > 0 && !d.add(pointer(hits[0])) {
			break
		}
	}
	return d.finish()
}

// digestOf is what a digest follows from, but for the time.
func (s *Service) digestOf(spaces []*space, size int) string {
	of := fmt.Sprint(size, " ", s.ledger.hiddenTurn())
	for _, sp := range spaces {
		m := sp.kept.Mark()
		of += fmt.Sprintf(" %s %d %x", sp.name, m.Epoch, m.Tree)
	}
	return of
}

// A digestMemo is the last digest. Making one takes a look at every event, and
// each session that starts asks for it.
type digestMemo struct {
	mu   sync.Mutex
	of   string
	at   time.Time
	text string
}

// digestLasts is how long a digest may miss that something has expired.
const digestLasts = time.Minute

func (m *digestMemo) get(of string, now time.Time, fresh func() string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if age := now.Sub(m.at); of != m.of || age < 0 || age > digestLasts {
		m.of, m.at, m.text = of, now, fresh()
	}
	return m.text
}

// digestShortest is less than any line of a digest takes.
const digestShortest = len("~0k3m9x2p 2006-01-02 \n")

// pointers are the newest events worth pointing to, and how many there are.
func (s *Service) pointers(spaces []*space, limit int) (list []ranked, total int) {
	for _, sp := range spaces {
		view := s.view(sp)
		n := 0
		sp.kept.Facts(func(set *projection.Set) {
			for id, st := range set.EachStanding(api.Filter{}, view) {
				kind, _ := set.Kind(id)
				if !kind.Searchable() || st.Verdict == event.Refuted || !s.shows(sp, id, st, api.Query{}) {
					continue
				}
				if n++; n <= limit {
					list = append(list, ranked{sp: sp, id: id, standing: st})
				}
			}
		})
		total += n
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Compare(b.id, a.id) })
	return list[:min(len(list), limit)], total
}

// pointer is one line of the digest: id, date, title.
func pointer(h api.Hit) string {
	line := h.ID.Short() + " " + h.Observed.Format("2006-01-02") + " " + oneLine(visible(h.Title))
	for len(line) > digestLine {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
}

// visible leaves out what a model reads and a person does not see: characters
// that turn the order around, have no width, or are tags.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// A digest takes lines for as long as they fit together with the last one,
// which says how many more there are.
type digest struct {
	text strings.Builder
	size int
	left int
}

func (d *digest) add(line string) bool {
	if d.text.Len()+len(line)+1+len(moreLine(d.left-1)) > d.size {
		return false
	}
	d.text.WriteString(line + "\n")
	d.left--
	return true
}

func (d *digest) finish() string {
	if more := moreLine(d.left); d.text.Len()+len(more) <= d.size {
		d.text.WriteString(more)
	}
	return d.text.String()
}

func moreLine(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("… and %d more: cairn log\n", n)
}
