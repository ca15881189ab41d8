package gitwire

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// negotiate reads what the client has and answers, in the way that the client chose, until it is done.
// The answers are those of git's upload-pack; gitprotocol-pack(5), "Packfile Negotiation".
func (u *upload) negotiate() error {
	for range maxHaves {
		line, flush, err := u.in.text()
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(line, " ")
		h, _, isHash := cutHash(rest)
		switch {
		case flush:
			err = u.endRound()
		case word == "have" && isHash:
			err = u.have(h)
		case line == "done":
			return u.done()
		default:
			err = &ProtocolError{"a have was expected"}
		}
		if err != nil {
			return err
		}
	}
	return &ProtocolError{"too many haves"}
}

// have takes note of a commit that the client has.
func (u *upload) have(h plumbing.Hash) error {
	if !u.b.Has(h) {
		return nil
	}
	if !u.known[h] {
		u.known[h] = true
		u.haves = append(u.haves, h)
	}
	switch {
	case u.caps.Has("multi_ack_detailed"):
		return u.ack(h, " common")
	case u.caps.Has("multi_ack"):
		return u.ack(h, " continue")
	case len(u.haves) == 1:
		return u.ack(h, "")
	}
	return nil
}

// endRound answers a flush-pkt: the client waits. Whether the haves suffice is found out here and not at each have,
// because it can cost a walk through the history.
func (u *upload) endRound() error {
	multi := u.caps.Has("multi_ack_detailed")
	if multi && !u.ready && len(u.haves) > u.asked {
		u.asked = len(u.haves)
		u.ready = u.b.ReadyFor(u.wants, u.haves)
	}
	if u.ready {
		if err := u.ack(u.last(), " ready"); err != nil {
			return err
		}
	}
	if len(u.haves) == 0 || multi || u.caps.Has("multi_ack") {
		if err := u.out.EncodeString("NAK\n"); err != nil {
			return err
		}
	}
	return u.buffer.Flush()
}

// done gives the last answer before the pack.
func (u *upload) done() error {
	switch {
	case len(u.haves) == 0:
		return u.out.EncodeString("NAK\n")
	case u.caps.Has("multi_ack_detailed") || u.caps.Has("multi_ack"):
		return u.ack(u.last(), "")
	}
	return nil
}

func (u *upload) last() plumbing.Hash { return u.haves[len(u.haves)-1] }

func (u *upload) ack(h plumbing.Hash, status string) error {
	return u.out.Encodef("ACK %s%s\n", h, status)
}
