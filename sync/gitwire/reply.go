package gitwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// PushCaps are the capabilities of a server that answers with a PushReply. delete-refs is not among them, so a client
// refuses to delete before it asks.
var PushCaps = Capabilities{
	"report-status", "report-status-v2", "side-band-64k", "quiet", "atomic", "ofs-delta", "push-options", "object-format=sha1", Agent,
}

// A Result is what became of one command.
type Result struct {
	Ref    string // as the client named it
	Reason string // why it was refused, in a few words on one line; empty if it was taken
	// Landed says what was updated in fact, if that is another ref than the one named. Give it only if the client
	// has the new commit, for it will move its own branch there.
	Landed *Command
}

// A PushReply answers a push: messages while the server works, then a report. While nothing is said it keeps the
// connection alive. End it with Report, Fatal or Close. It is safe for concurrent use.
type PushReply struct {
	w     io.Writer
	caps  Capabilities
	bands *muxer // nil if the client takes no side-band: then messages are dropped
}

// NewPushReply returns the reply to req on w. The connection should be read to its end afterwards, or the client may lose
// the answer while it still sends its pack.
func NewPushReply(w io.Writer, req *PushRequest) *PushReply {
	p := &PushReply{w: w, caps: req.Caps}
	if req.Caps.Has("side-band-64k") {
		p.bands = newMuxer(w)
	}
	return p
}

// Message sends text at once; stock git shows each of its lines behind "remote:". Failures come up in Report.
func (p *PushReply) Message(text string) {
	if p.bands == nil {
		return
	}
	lines := splitter{line: func(line string) {
		// The error stays in the muxer and is returned at the end.
		_ = p.bands.send(sideband.ProgressMessage, []byte(line+"\n"))
	}}
	lines.write([]byte(text))
	lines.end()
}

// Report ends the reply with what became of each command. unpack says in a few words why the pack was not taken; it is
// empty if it was.
func (p *PushReply) Report(unpack string, results []Result) error {
	var report bytes.Buffer
	if p.caps.Has("report-status") || p.caps.Has("report-status-v2") {
		if err := p.encode(pktline.NewEncoder(&report), unpack, results); err != nil {
			return errors.Join(fmt.Errorf("report a push: %w", err), p.Close())
		}
	}
	if p.bands == nil {
		_, err := p.w.Write(report.Bytes())
		return wrapReport(err)
	}
	err := p.bands.send(sideband.PackData, report.Bytes())
	return wrapReport(errors.Join(err, p.bands.end()))
}

func wrapReport(err error) error {
	if err != nil {
		return fmt.Errorf("report a push: %w", err)
	}
	return nil
}

func (p *PushReply) encode(out *pktline.Encoder, unpack string, results []Result) error {
	if unpack = oneLine(unpack); unpack == "" {
		unpack = "ok"
	}
	if err := out.EncodeString("unpack " + unpack + "\n"); err != nil {
		return err
	}
	for _, r := range results {
		if err := p.encodeResult(out, r); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (p *PushReply) encodeResult(out *pktline.Encoder, r Result) error {
	if r.Reason != "" {
		return out.EncodeString("ng " + r.Ref + " " + oneLine(r.Reason) + "\n")
	}
	if err := out.EncodeString("ok " + r.Ref + "\n"); err != nil {
		return err
	}
	if r.Landed == nil || !p.caps.Has("report-status-v2") {
		return nil
	}
	return out.EncodeString(
		"option refname "+r.Landed.Ref+"\n",
		"option old-oid "+r.Landed.Old.String()+"\n",
		"option new-oid "+r.Landed.New.String()+"\n",
	)
}

// Fatal ends the reply with one message and no report: the session cannot go on.
func (p *PushReply) Fatal(message string) error {
	message = oneLine(message)
	if p.bands == nil {
		return pktline.NewEncoder(p.w).EncodeString("ERR " + message + "\n")
	}
	err := p.bands.send(sideband.ErrorMessage, []byte(message+"\n"))
	return errors.Join(err, p.bands.end())
}

// Close ends the reply without an answer, if it was not ended yet. It does not close the connection.
func (p *PushReply) Close() error {
	if p.bands == nil {
		return nil
	}
	return p.bands.end()
}
