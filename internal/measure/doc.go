// Package measure turns how long things took into figures that can be compared:
// percentiles, the ratio to a peer that was measured in the same run, and a
// report of such rows as a table or as JSON.
//
// It holds no clock and runs nothing. It never averages and never leaves out a
// slow run: a percentile is always one of the times that were given.
package measure
