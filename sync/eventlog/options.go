package eventlog

import "cairn/sync/gitstore"

// Durability is what an acknowledged append survives.
type Durability int

const (
	// Full: also a power cut.
	Full Durability = iota
	// Process: the end of the process, however it ends, and not a power cut. An append does not wait for the disk.
	Process
)

// An Option changes how a Log writes.
type Option func(*Log)

// WithDurability says what an append waits for; the default is Full.
func WithDurability(d Durability) Option { return func(l *Log) { l.durability = d } }

// WithBacklog makes Append call fn when it is a good moment to call Settle, at the latest before an Append has to do it.
// fn must be quick and must not use the Log.
func WithBacklog(fn func()) Option { return func(l *Log) { l.backlog = fn } }

// WithCache has the Log remember git objects in c, which Logs may share.
func WithCache(c *gitstore.Cache) Option { return func(l *Log) { l.store.ShareCache(c) } }

// WithBoot gives the start of the system a name; the default is disk.BootID. As long as it is the same, Open takes what was
// written for what is there. A test that cuts the power gives another one afterwards.
func WithBoot(id string) Option { return func(l *Log) { l.journal.boot = id } }

// Durability is what an acknowledged append survives.
func (l *Log) Durability() Durability { return l.durability }
