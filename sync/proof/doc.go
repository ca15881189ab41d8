// Package proof has no code but its tests. They prove what the packages of sync promise only together, and look at it from
// outside: that a log keeps what it acknowledged and a reader never sees less than before, with any number of processes
// that are killed and stock git beside them; that a power cut at any moment of any change leaves a whole repository; and
// that replicas which met in whatever order end with one history.
//
// It does not repeat what the packages prove about themselves. Stock git and plain go-git are the judges, and every proof
// is run against a deliberate fault besides, which it must find. Package longtest says how long the proofs run.
package proof
