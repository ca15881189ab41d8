//go:build !cgo_sqlite

package main

import _ "modernc.org/sqlite" // the driver "sqlite"

var drivers = []driver{{"in Go", "sqlite"}}
