package golden

import "math"

// An Outcome is how one question was answered.
type Outcome struct {
	Want  int   // how many notes must be found; 0 if nothing may be
	Ranks []int // where those stand that were found, from 1, each once
	Empty bool  // nothing at all was found
}

// OutcomeOf looks where the notes that q wants stand among so many hits. is
// says whether hit i, from 0, is the note that is wanted.
func OutcomeOf(q Question, hits int, is func(want string, i int) bool) Outcome {
	o := Outcome{Want: len(q.Find), Empty: hits == 0}
	for _, want := range q.Find {
		for i := range hits {
			if is(want, i) {
				o.Ranks = append(o.Ranks, i+1)
				break
			}
		}
	}
	return o
}

// firstFew is how many hits a question has to be answered by.
const firstFew = 5

// Lost says that the answer is not what it must be: something where nothing may
// be found, or not every note among the first five, or five of them if there
// are more.
func (o Outcome) Lost() bool {
	if o.Want == 0 {
		return !o.Empty
	}
	return o.within(firstFew) < min(o.Want, firstFew)
}

func (o Outcome) within(n int) (found int) {
	for _, r := range o.Ranks {
		if r <= n {
			found++
		}
	}
	return found
}

func (o Outcome) hit(n int) float64 {
	if o.within(n) > 0 {
		return 1
	}
	return 0
}

func (o Outcome) recall(n int) float64 { return float64(o.within(n)) / float64(o.Want) }

// reciprocal is one over the rank of the first note that was found.
func (o Outcome) reciprocal() float64 {
	first := 0
	for _, r := range o.Ranks {
		if first == 0 || r < first {
			first = r
		}
	}
	if first == 0 {
		return 0
	}
	return 1 / float64(first)
}

// ndcg is the discounted gain of the first n hits beside the best there can be.
func (o Outcome) ndcg(n int) float64 {
	var got, best float64
	for _, r := range o.Ranks {
		if r <= n {
			got += gain(r)
		}
	}
	for r := 1; r <= min(o.Want, n); r++ {
		best += gain(r)
	}
	return got / best
}

func gain(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }

// Figures are the means over questions that have an answer, and counts.
type Figures struct {
	Questions  int     `json:"questions"` // that have an answer
	RecallAt1  float64 `json:"recall_at_1"`
	RecallAt5  float64 `json:"recall_at_5"`
	RecallAt10 float64 `json:"recall_at_10"`
	HitAt5     float64 `json:"hit_at_5"`
	HitAt10    float64 `json:"hit_at_10"`
	MRR        float64 `json:"mrr"` // by the first ten
	NDCGAt10   float64 `json:"ndcg_at_10"`
	Empty      int     `json:"empty"`      // of Questions, that found nothing at all
	None       int     `json:"none"`       // questions that must find nothing
	NoneRight  int     `json:"none_right"` // of None, that found nothing
	Lost       int     `json:"lost"`       // of Questions and None; see Outcome.Lost
}

// Asked is how many questions there were.
func (f Figures) Asked() int { return f.Questions + f.None }

// Right is the share of questions that were not lost.
func (f Figures) Right() float64 { return 1 - float64(f.Lost)/float64(max(f.Asked(), 1)) }

// FiguresOf are the figures of some questions.
func FiguresOf(outcomes []Outcome) (f Figures) {
	for _, o := range outcomes {
		f.add(o)
	}
	if n := float64(f.Questions); n > 0 {
		for _, sum := range []*float64{&f.RecallAt1, &f.RecallAt5, &f.RecallAt10, &f.HitAt5, &f.HitAt10, &f.MRR, &f.NDCGAt10} {
			*sum /= n
		}
	}
	return f
}

func (f *Figures) add(o Outcome) {
	if o.Lost() {
		f.Lost++
	}
	if o.Want == 0 {
		f.None++
		if o.Empty {
			f.NoneRight++
		}
		return
	}
	f.Questions++
	if o.Empty {
		f.Empty++
	}
	f.RecallAt1 += o.recall(1)
	f.RecallAt5 += o.recall(firstFew)
	f.RecallAt10 += o.recall(Depth)
	f.HitAt5 += o.hit(firstFew)
	f.HitAt10 += o.hit(Depth)
	f.MRR += o.reciprocal()
	f.NDCGAt10 += o.ndcg(Depth)
}

// Depth is how many hits of an answer are looked at.
const Depth = 10
