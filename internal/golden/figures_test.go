package golden_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/golden"
)

func TestFiguresOfKnownAnswers(t *testing.T) {
	f := golden.FiguresOf([]golden.Outcome{
		{Want: 2, Ranks: []int{7, 2}},
		{Want: 1, Ranks: []int{1}},
		{Want: 1, Empty: true},
		{Want: 1},
		{Empty: true},
		{},
	})
	gain := func(rank float64) float64 { return 1 / math.Log2(rank+1) }
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"questions", float64(f.Questions), 4},
		{"asked", float64(f.Asked()), 6},
		{"recall@1", f.RecallAt1, 1. / 4},
		{"recall@5", f.RecallAt5, 1.5 / 4},
		{"recall@10", f.RecallAt10, 2. / 4},
		{"hit@5", f.HitAt5, 2. / 4},
		{"hit@10", f.HitAt10, 2. / 4},
		{"MRR", f.MRR, (0.5 + 1) / 4},
		{"nDCG@10", f.NDCGAt10, ((gain(2)+gain(7))/(gain(1)+gain(2)) + 1) / 4},
		{"empty", float64(f.Empty), 1},
		{"none", float64(f.None), 2},
		{"none right", float64(f.NoneRight), 1},
		{"lost", float64(f.Lost), 4},
		{"right", f.Right(), 2. / 6},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if f := golden.FiguresOf(nil); f != (golden.Figures{}) || f.Right() != 1 {
		t.Errorf("of nothing: %+v", f)
	}
}

// What more notes than places would ask for is not asked.
func TestMoreWantedThanThereArePlaces(t *testing.T) {
	o := golden.Outcome{Want: 7, Ranks: []int{1, 2, 3, 4, 5}}
	if o.Lost() || (golden.Outcome{Want: 7, Ranks: []int{1, 2, 3, 4, 6}}).Lost() == false {
		t.Error("five of seven among the first five are all that can be")
	}
}

func TestFiguresAreSharesThatGrowWithDepthAndWithBetterRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfNDistinct(rapid.IntRange(1, golden.Depth), 0, golden.Depth, rapid.ID).Draw(t, "ranks")
		want := rapid.IntRange(max(len(ranks), 1), golden.Depth+5).Draw(t, "want")
		f := golden.FiguresOf([]golden.Outcome{{Want: want, Ranks: ranks}})
		order := []float64{0, f.RecallAt1, f.RecallAt5, f.RecallAt10, f.HitAt10, 1}
		for i := range order[1:] {
			if order[i] > order[i+1] {
				t.Fatalf("not in order: %+v", f)
			}
		}
		if f.HitAt5 > f.HitAt10 || f.NDCGAt10 < 0 || f.NDCGAt10 > 1+1e-12 || f.MRR > 1 {
			t.Fatalf("no shares: %+v", f)
		}
		var best []int
		for i := range ranks {
			best = append(best, i+1)
		}
		top := golden.FiguresOf([]golden.Outcome{{Want: want, Ranks: best}})
		if top.NDCGAt10 < f.NDCGAt10-1e-12 || top.MRR < f.MRR || top.RecallAt5 < f.RecallAt5 || top.Lost > f.Lost {
			t.Fatalf("better ranks, worse figures: %+v, %+v", f, top)
		}
	})
}
