// Package disktest is for tests that write much to the real file system.
//
// It leaves out on purpose failing disks and power cuts, which package faultfs
// has, and counting, which countfs has.
package disktest
