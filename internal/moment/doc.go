// Package moment reads a point in time as people write it: a date, a date with
// a time, or how long ago.
//
// It leaves out on purpose words such as yesterday and the date formats of
// single countries, which mean one day here and another there. It promises
// that a text either names one moment or is refused; nothing is guessed.
package moment
