package analysis_test

import (
	"slices"
	"testing"

	"cairn/search/analysis"
)

func TestWordsHaveKin(t *testing.T) {
	for word, other := range map[string]string{
		"k8s": "kubernetes", "kubernetes": "k8s", "databases": "db", "db": "database", "repos": "repository",
		"envs": "environment", "crashed": "abort", "removal": "delete", "latency": "slow", "indices": "index",
		"colour": "color", "serialised": "serialize", "three": "3", "3": "three", "config": "configuration",
		"pullrequest": "pr", "expiry": "expire", "failed": "failures", "deployment": "release",
	} {
		stem, want := analysis.Stem(word), analysis.Stem(other)
		if kin := analysis.Kin(stem); stem != want && !slices.Contains(kin, want) {
			t.Errorf("%s has the kin %v, without %s", word, kin, want)
		}
	}
	for _, word := range []string{"billing-service", "xyzzy", "的", ""} {
		if kin := analysis.Kin(word); len(kin) > 0 {
			t.Errorf("%q has the kin %v", word, kin)
		}
	}
}

// To be kin is mutual, no word is its own, and no word says nothing.
func TestKinIsMutual(t *testing.T) {
	seen := map[string]bool{}
	todo := []string{"db", "k8s", "crash", "delet", "slow", "increas", "test", "server", "error", "user", "cost", "log", "deploy", "retri"}
	for len(todo) > 0 {
		stem := todo[0]
		todo = todo[1:]
		if seen[stem] {
			continue
		}
		seen[stem] = true
		for _, other := range analysis.Kin(stem) {
			if other == stem || other == "" || analysis.IsStop(other) || !slices.Contains(analysis.Kin(other), stem) {
				t.Errorf("%q is no fit kin of %q", other, stem)
			}
			todo = append(todo, other)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d words are reached", len(seen))
	}
}
