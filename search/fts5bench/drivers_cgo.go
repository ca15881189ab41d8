//go:build cgo_sqlite

package main

import (
	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	_ "modernc.org/sqlite"          // the driver "sqlite"
)

var drivers = []driver{{"in C", "sqlite3"}, {"in Go", "sqlite"}}
