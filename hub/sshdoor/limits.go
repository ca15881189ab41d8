package sshdoor

import "time"

// Limits bound what one door spends. A zero field means its default.
type Limits struct {
	Handshake time.Duration // from connection to login: 10 s
	KeepAlive time.Duration // between questions whether the client is alive: 15 s; three unanswered end the connection
	Grace     time.Duration // for running commands when the door stops: 10 s
	Stall     time.Duration // until a client has taken what one write sends it: 1 minute
	Line      time.Duration // that a session waits for room before it is refused: 10 s

	Waiting        int     // connections that have not logged in: 256
	WaitingAddress int     // of them from one address: 32
	Burst          int     // connections without login from one address at once: 64
	Refill         float64 // and how many more each second: 8
	Connections    int     // in all: 1024
	PerKey         int     // of one key: 32
	Sessions       int     // commands at once on one connection: 16
	Awaiting       int     // of them that have not said which command; more are let in after these: 2
	Unasked        int64   // bytes that are sent to a command that reads nothing: 64 KiB
	Room           int64   // bytes that clients may have sent and no command has read, 2 MiB for each that reads: 256 MiB
	RoomPerson     int64   // of them from the devices of one person: 64 MiB
	Troubled       int64   // bytes that count as a second of waiting for who had something refused within a minute: 1 MiB
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Handshake, 10*time.Second)
	setDefault(&l.KeepAlive, 15*time.Second)
	setDefault(&l.Grace, 10*time.Second)
	setDefault(&l.Stall, time.Minute)
	setDefault(&l.Line, 10*time.Second)
	setDefault(&l.Waiting, 256)
	setDefault(&l.WaitingAddress, 32)
	setDefault(&l.Burst, 64)
	setDefault(&l.Refill, 8)
	setDefault(&l.Connections, 1024)
	setDefault(&l.PerKey, 32)
	setDefault(&l.Sessions, 16)
	setDefault(&l.Awaiting, 2)
	setDefault(&l.Unasked, 64<<10)
	setDefault(&l.Room, 256<<20)
	setDefault(&l.RoomPerson, 64<<20)
	setDefault(&l.Troubled, 1<<20)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
