// Package gitwire speaks git's pack protocol, both sides of it, over any stream: a server that shows refs, hands out
// packs and takes pushes, and a client for such a server, be it this one or stock git.
//
// It is version 0 of the protocol, which every git speaks; a client that asks for version 2 falls back by itself. Over
// a kept connection version 0 also saves a round trip, because the server speaks first. The protocol is described in
// git's gitprotocol-pack(5), gitprotocol-common(5) and gitprotocol-capabilities(5).
//
// go-git supplies the pkt-line codec. Its other codecs do not serve: its upload request has no haves, its update
// request drops push options, its side-band writer fails on a packet of full size and cannot send an empty one, its
// side-band reader waits until the caller's buffer is full, and none of its decoders is bounded.
//
// It leaves out on purpose storage (packs pass through as streams), policy (which ref, who, fast-forward or not), the
// transport below, shallow and partial clones, signed pushes and the deletion of refs by a client of its own.
//
// It promises that everything it reads is bounded before it is kept, that text from the other side is one printable
// line wherever it is handed on, that a call with a context closes the stream when the context ends, and that nothing
// reads past the last line that belongs to it, so that a pack can follow on the same stream.
package gitwire
