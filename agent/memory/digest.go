package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	list, total := s.pointers(spaces, size/digestShortest+1)
	hits, _ := readHits(list, "")
	var lines []string
	for _, h := range hits {
		lines = append(lines, pointer(h))
	}
	return fitLines(lines, total, size), nil
}

// digestShortest is less than any line of a digest takes.
const digestShortest = len("~0k3m9x2p 2006-01-02 \n")

// pointers are the newest events worth pointing to, and how many there are.
func (s *Service) pointers(spaces []*space, limit int) (list []ranked, total int) {
	for _, sp := range spaces {
		n := 0
		now := s.opt.Now()
		sp.kept.Facts(func(set *projection.Set) {
			for id := range set.Each(api.Filter{}) {
				kind, _ := set.Kind(id)
				st, ok := s.shows(sp, set, id, api.Query{}, now)
				if !ok || !kind.Searchable() || st.Verdict == event.Refuted {
					continue
				}
				if n++; n <= limit {
					list = append(list, ranked{sp: sp, id: id, standing: st})
				}
			}
		})
		total += n
	}
	slices.SortFunc(list, func(a, b ranked) int { return strings.Compare(string(b.id), string(a.id)) })
	return list[:min(len(list), limit)], total
}

// pointer is one line of the digest: id, date, title.
func pointer(h api.Hit) string {
	line := h.ID.Short() + " " + h.Observed.Format("2006-01-02") + " " + oneLine(h.Title)
	for len(line) > digestLine {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
}

// fitLines joins as many lines as fit, and says how many more there are.
func fitLines(lines []string, total, size int) string {
	if total == 0 {
		return ""
	}
	text, n := "", 0
	for ; n < len(lines); n++ {
		next := text + lines[n] + "\n"
		if len(next)+len(moreLine(total-n-1)) > size {
			break
		}
		text = next
	}
	if more := moreLine(total - n); len(text)+len(more) <= size {
		text += more
	}
	return text
}

func moreLine(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("… and %d more: cairn log\n", n)
}
