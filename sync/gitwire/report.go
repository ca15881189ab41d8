package gitwire

import (
	"io"
	"strings"
)

// maxReport is how many lines a report may have.
const maxReport = 1000

// receive reads the messages and the report.
func (s *sender) receive() (PushResult, error) {
	in := newLines(s.rw)
	var said []string
	var bands *demuxer
	if s.caps.Has("side-band-64k") {
		bands = &demuxer{in: in, messages: splitter{line: func(line string) {
			if len(said) < MaxMessages {
				said = append(said, line)
			}
			if s.o.Messages != nil {
				s.o.Messages(line)
			}
		}}}
		in = newLines(bands)
	}
	r := report{landed: s.cmd}
	if err := r.read(in, s.cmd.Ref); err != nil {
		return PushResult{}, err
	}
	if bands != nil {
		// What a server says after its report, for example from a hook, is worth showing. That the stream breaks
		// there takes nothing back.
		_, _ = io.Copy(io.Discard, bands)
	}
	if r.reason != "" {
		return PushResult{}, &RejectedError{Ref: s.cmd.Ref, Reason: r.reason, Messages: said}
	}
	return PushResult{Landed: r.landed}, nil
}

// report is what the remote says of one command; gitprotocol-pack(5), "Report Status".
type report struct {
	taken  bool
	reason string // why not
	landed Command
}

// read reads up to the flush-pkt and checks that ref was answered.
func (r *report) read(in *lines, ref string) error {
	for n := range maxReport {
		line, flush, err := in.text()
		if err != nil {
			return err
		}
		if flush {
			if !r.taken && r.reason == "" {
				return &ProtocolError{"the remote does not say what became of the push"}
			}
			return nil
		}
		if err := r.line(line, ref, n == 0); err != nil {
			return err
		}
	}
	return &ProtocolError{"the remote's report is too long"}
}

func (r *report) line(line, ref string, first bool) error {
	word, rest, _ := strings.Cut(line, " ")
	if (word == "unpack") != first {
		return &ProtocolError{"the remote's report does not begin as a report does"}
	}
	switch word {
	case "unpack":
		if rest != "ok" {
			r.reason = "its pack could not be used: " + oneLine(rest)
		}
	case "ok":
		r.taken = r.taken || rest == ref
	case "ng":
		if name, reason, _ := strings.Cut(rest, " "); name == ref && r.reason == "" {
			if r.reason = oneLine(reason); r.reason == "" {
				r.reason = "no reason given"
			}
		}
	case "option":
		return r.option(rest)
	}
	return nil
}

// option takes in what is said of the ref that was named last; there is only one.
func (r *report) option(text string) error {
	key, value, _ := strings.Cut(text, " ")
	h, _, isHash := cutHash(value)
	switch {
	case key == "refname" && refName(value):
		r.landed.Ref = value
	case key == "old-oid" && isHash:
		r.landed.Old = h
	case key == "new-oid" && isHash:
		r.landed.New = h
	case key == "refname" || key == "old-oid" || key == "new-oid":
		return &ProtocolError{"an option of the remote's report is malformed"}
	}
	return nil
}
