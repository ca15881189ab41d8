// Package config holds what a home remembers about itself: its name for
// people, the hub it joined, and where its spaces are synced to.
//
// The file is the only source; flags and environment choose the home and
// nothing else. It is written whole or not at all.
package config
