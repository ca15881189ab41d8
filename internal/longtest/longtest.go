package longtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Names of the variables that the functions below look at.
const (
	longVar    = "CAIRN_LONG_TESTS"
	minutesVar = "CAIRN_LONG_MINUTES"
	seedVar    = "CAIRN_SEED"
)

// Long says whether the long forms were asked for.
func Long() bool { return os.Getenv(longVar) != "" }

// Rounds is how often to do something.
func Rounds(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// For is how long to go on. It fails the test if the minutes that were asked for are no number.
func For(t testing.TB, short time.Duration) time.Duration {
	t.Helper()
	if !Long() {
		return short
	}
	text := os.Getenv(minutesVar)
	if text == "" {
		return time.Minute
	}
	minutes, err := strconv.ParseFloat(text, 64)
	if err != nil || minutes <= 0 {
		t.Fatalf("%s=%s is no number of minutes", minutesVar, text)
	}
	return time.Duration(minutes * float64(time.Minute))
}

// Seed is the seed that was asked for, or a new one. The test's log says which.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedVar); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s=%s is no seed", seedVar, text)
		}
	}
	t.Logf("seed: %s=%d", seedVar, seed)
	return seed
}

// Rand makes the choices of a test, from Seed. It is not safe for concurrent use.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}
