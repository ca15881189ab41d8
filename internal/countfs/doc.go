// Package countfs is a disk.FS for tests: it counts what is asked of the one
// below it. So a test can say that an operation costs the same however much is
// stored, without asking a clock.
//
// It leaves out on purpose which file was asked, and whatever is done past it,
// such as a disk.Lock. It promises to change nothing.
package countfs
