package longtest_test

import (
	"testing"
	"time"

	"cairn/internal/longtest"
)

func TestTheShortFormIsTheRule(t *testing.T) {
	t.Setenv("CAIRN_LONG_TESTS", "")
	t.Setenv("CAIRN_LONG_MINUTES", "5")
	if n := longtest.Rounds(3, 100); n != 3 {
		t.Errorf("%d rounds", n)
	}
	if d := longtest.For(t, time.Second); d != time.Second {
		t.Errorf("for %v", d)
	}
}

func TestTheLongFormIsAskedFor(t *testing.T) {
	t.Setenv("CAIRN_LONG_TESTS", "1")
	if n := longtest.Rounds(3, 100); n != 100 {
		t.Errorf("%d rounds", n)
	}
	for minutes, want := range map[string]time.Duration{"": time.Minute, "10": 10 * time.Minute, "0.5": 30 * time.Second} {
		t.Setenv("CAIRN_LONG_MINUTES", minutes)
		if d := longtest.For(t, time.Second); d != want {
			t.Errorf("%q minutes are %v", minutes, d)
		}
	}
}

func TestASeedIsRepeated(t *testing.T) {
	t.Setenv("CAIRN_SEED", "42")
	if seed := longtest.Seed(t); seed != 42 {
		t.Errorf("seed %d", seed)
	}
	if a, b := longtest.Rand(t), longtest.Rand(t); a.Uint64() != b.Uint64() {
		t.Error("one seed makes different choices")
	}
	t.Setenv("CAIRN_SEED", "")
	if first, second := longtest.Seed(t), longtest.Seed(t); first == second {
		t.Error("two runs that nobody chose have one seed")
	}
}
