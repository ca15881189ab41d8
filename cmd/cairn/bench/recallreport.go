package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"cairn/internal/event"
	"cairn/internal/golden"
	"cairn/internal/measure"
)

// A RecallReport is how well questions were answered.
type RecallReport struct {
	Bench   string          `json:"bench"`
	Machine measure.Machine `json:"machine"`
	Notes   int             `json:"notes,omitempty"` // that the file brought
	All     golden.Figures  `json:"all"`
	Classes []ClassFigures  `json:"classes,omitempty"` // by name
	// Lost are the questions that were not answered as they must be, in the
	// order of the file.
	Lost []LostQuestion `json:"lost"`
	// What has changed since the last time; see Remember.
	Last      *time.Time `json:"last,omitempty"`       // when that was
	LostSince int        `json:"lost_since,omitempty"` // of Lost
	Regained  int        `json:"regained,omitempty"`

	asked []LostQuestion // all, lost or not
}

// ClassFigures are the figures of the questions of one class.
type ClassFigures struct {
	Class string `json:"class"`
	golden.Figures
}

// A LostQuestion is one that was not answered as it must be.
type LostQuestion struct {
	Question string     `json:"question"`
	Class    string     `json:"class,omitempty"`
	Line     int        `json:"line"` // in the file
	Find     []string   `json:"find"` // empty: nothing may be found
	Found    []FoundHit `json:"found"`
	Since    bool       `json:"since,omitempty"` // it was answered the last time

	set  int
	lost bool
}

// A FoundHit is a note that was found.
type FoundHit struct {
	ID    event.ID `json:"id"`
	Title string   `json:"title"`
}

func (res recallResult) lost() LostQuestion {
	q := LostQuestion{
		Question: res.question.Text, Class: res.question.Class, Line: res.question.Line, Find: []string{}, Found: []FoundHit{},
		set: res.set, lost: res.outcome.Lost(),
	}
	q.Find = append(q.Find, res.question.Find...)
	for _, h := range res.hits {
		q.Found = append(q.Found, FoundHit{h.ID, h.Title})
	}
	return q
}

// WriteTable writes the figures; which questions were lost is for the caller to
// show.
func (r RecallReport) WriteTable(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "class\tquestions\trecall@1\t@5\t@10\thit@5\t@10\tMRR\tnDCG@10\tempty\tnone right\tlost\t")
	for _, c := range r.Classes {
		writeFigures(tab, c.Class, c.Figures)
	}
	writeFigures(tab, "all", r.All)
	tab.Flush()
	if r.Last != nil {
		fmt.Fprintf(w, "since %s: %d lost, %d regained\n", r.Last.Local().Format("2006-01-02 15:04"), r.LostSince, r.Regained)
	}
}

func writeFigures(w io.Writer, name string, f golden.Figures) {
	fmt.Fprintf(w, "%s\t%d\t", name, f.Asked())
	for _, v := range []float64{f.RecallAt1, f.RecallAt5, f.RecallAt10, f.HitAt5, f.HitAt10, f.MRR, f.NDCGAt10} {
		fmt.Fprintf(w, "%s\t", orDash(f.Questions, fmt.Sprintf("%.3f", v)))
	}
	fmt.Fprintf(w, "%s\t", orDash(f.Questions, fmt.Sprint(f.Empty)))
	fmt.Fprintf(w, "%s\t%d\t\n", orDash(f.None, fmt.Sprintf("%d of %d", f.NoneRight, f.None)), f.Lost)
}

// orDash is s, or a dash for a figure of no questions.
func orDash(questions int, s string) string {
	if questions == 0 {
		return "-"
	}
	return s
}
