package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// findings are what a proof holds against what it looked at. They are collected instead of failing the test at once, so
// that a proof can be run against a deliberate fault.
type findings struct {
	mu   sync.Mutex
	list []string
}

// maxFindings is enough to see what is wrong.
const maxFindings = 20

func (f *findings) addf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.list) < maxFindings {
		f.list = append(f.list, fmt.Sprintf(format, args...))
	}
}

func (f *findings) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

func (f *findings) any() bool { return len(f.all()) > 0 }

// has says whether a finding holds the words.
func (f *findings) has(words string) bool {
	return slices.ContainsFunc(f.all(), func(s string) bool { return strings.Contains(s, words) })
}

// report fails the test with each finding.
func (f *findings) report(t testing.TB) {
	t.Helper()
	for _, s := range f.all() {
		t.Error(s)
	}
}
