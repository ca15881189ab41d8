// Package longtest says how long a proof runs and from which seed.
//
// A proof by chance has a short form that always runs and a long one for a quiet machine. CAIRN_LONG_TESTS=1 asks for the
// long forms, CAIRN_LONG_MINUTES=10 makes those that run for a time run that long instead of one minute, and CAIRN_SEED=N
// repeats the choices of a run that printed N. What processes and goroutines do beside each other is not chosen, so a seed
// brings back the plan of such a run and not each of its moments.
package longtest
