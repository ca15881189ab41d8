package search

import "time"

// Impatient is opt with little time between attempts to write.
func Impatient(opt Options) Options {
	opt.pause = time.Millisecond
	return opt
}
