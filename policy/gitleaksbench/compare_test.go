package main

import (
	"strings"
	"testing"
)

// Each engine must be on: one that was set up wrong would lose to anybody.
func TestBothEnginesLook(t *testing.T) {
	engines, starts, err := start()
	if err != nil || len(starts) != len(engines) {
		t.Fatalf("%d engines, %d starts, %v", len(engines), len(starts), err)
	}
	for _, s := range sets(7) {
		blocked := map[string]int{}
		for _, text := range s.texts {
			for _, e := range engines {
				if e.blocks(text) {
					blocked[e.name]++
				}
			}
		}
		clean := strings.HasPrefix(s.name, "clean")
		ours, n := blocked["cairn"], len(s.texts)
		if clean && ours*1000 > n*5 || !clean && ours*100 < n*97 {
			t.Errorf("%s: cairn blocks %d of %d", s.name, ours, n)
		}
		if plain := strings.HasSuffix(s.name, "plain"); plain && blocked["gitleaks"]*10 < n*4 {
			t.Errorf("%s: gitleaks blocks %d of %d", s.name, blocked["gitleaks"], n)
		}
	}
}

// The same seed makes the same texts, another one makes others.
func TestTheSeedDecides(t *testing.T) {
	same, other := sets(7), sets(8)
	for i, s := range sets(7) {
		if strings.Join(s.texts, "\x00") != strings.Join(same[i].texts, "\x00") {
			t.Errorf("%s: one seed makes two sets", s.name)
		}
		if strings.Join(s.texts, "\x00") == strings.Join(other[i].texts, "\x00") {
			t.Errorf("%s: two seeds make one set", s.name)
		}
	}
}
