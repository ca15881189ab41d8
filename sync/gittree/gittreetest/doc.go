// Package gittreetest is an object store in memory for tests of what reads trees and commits: filled from plain maps,
// by code of its own, so that a test compares two ways of making the same tree. Safe for concurrent use.
package gittreetest
