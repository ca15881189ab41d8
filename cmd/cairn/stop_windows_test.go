package main

import (
	"os"
	"testing"
)

func stop(t *testing.T, _ *os.Process) { t.Helper(); t.Fatal("not on this system") }

func resume(t *testing.T, _ *os.Process) { t.Helper(); t.Fatal("not on this system") }
