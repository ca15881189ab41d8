package gitwire

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// MaxRefs is how many refs an advert may list.
const MaxRefs = 100_000

// noRefs stands where the first ref would, in the advert of a repository that has none.
const noRefs = "capabilities^{}"

// An Advert is what a server says first.
type Advert struct {
	Refs map[string]plumbing.Hash // by full name; without HEAD and peeled tags
	Head string                   // the ref that HEAD stands for; empty if the server does not say
	Caps Capabilities
}

// Advertise sends the refs of a repository and the capabilities of a server. head is the ref that HEAD stands for, whether
// it exists or not, and empty if HEAD is not to be shown: for a push.
func Advertise(w io.Writer, refs map[string]plumbing.Hash, head string, caps Capabilities) error {
	if head != "" {
		caps = append(slices.Clip(caps), "symref=HEAD:"+head)
	}
	buffered := bufio.NewWriter(w)
	out := pktline.NewEncoder(buffered)
	suffix := "\x00" + caps.String() + "\n"
	show := func(h plumbing.Hash, name string) error {
		line := h.String() + " " + name + suffix
		suffix = "\n" // the capabilities stand behind the first ref only
		return out.EncodeString(line)
	}
	if err := showRefs(show, refs, head); err != nil {
		return fmt.Errorf("advertise refs: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("advertise refs: %w", err)
	}
	return buffered.Flush()
}

func showRefs(show func(plumbing.Hash, string) error, refs map[string]plumbing.Hash, head string) error {
	if len(refs) == 0 {
		return show(plumbing.ZeroHash, noRefs)
	}
	if h, ok := refs[head]; ok {
		if err := show(h, "HEAD"); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if err := show(refs[name], name); err != nil {
			return err
		}
	}
	return nil
}

// ReadAdvert reads what a server says first, and nothing more of r. Errors: *RemoteError, *UnsupportedError (another
// hash, protocol version 2, a shallow repository), *ProtocolError, io.ErrUnexpectedEOF if the server just ends.
func ReadAdvert(r io.Reader) (*Advert, error) {
	ad := &Advert{Refs: make(map[string]plumbing.Hash)}
	in := newLines(r)
	first := true
	for range MaxRefs {
		line, flush, err := in.text()
		if err == nil && !flush {
			if first && line == "version 1" {
				continue // version 0 with this one line in front
			}
			err = ad.line(line, first)
		}
		if err != nil {
			return nil, fmt.Errorf("read the remote's refs: %w", err)
		}
		if flush {
			return ad, nil
		}
		first = false
	}
	return nil, fmt.Errorf("read the remote's refs: %w", &ProtocolError{fmt.Sprintf("more than %d refs", MaxRefs)})
}

// line takes in one line; the first has the capabilities.
func (ad *Advert) line(line string, first bool) error {
	if first {
		var caps string
		line, caps, _ = strings.Cut(line, "\x00")
		if err := ad.capabilities(caps); err != nil {
			return err
		}
	}
	switch {
	case strings.HasPrefix(line, "version "):
		return &UnsupportedError{"a server that insists on another protocol version"}
	case strings.HasPrefix(line, "shallow "):
		return &UnsupportedError{"a shallow repository"}
	}
	h, name, ok := cutHash(line)
	if !ok {
		return &ProtocolError{"a line of the advert is not a ref"}
	}
	// What else is listed is HEAD, a server's hints (.have) or noRefs.
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "^{}") {
		return nil
	}
	if _, twice := ad.Refs[name]; twice || !refName(name) {
		return &ProtocolError{"a ref is listed twice or has no proper name"}
	}
	ad.Refs[name] = h
	return nil
}

func (ad *Advert) capabilities(text string) error {
	ad.Caps = ParseCapabilities(text)
	for _, c := range ad.Caps {
		if target, ok := strings.CutPrefix(c, "symref=HEAD:"); ok && refName(target) {
			ad.Head = target
		}
	}
	return ad.Caps.checkFormat()
}

// refName reports whether a name can be on the wire at all; which names are welcome is for others to say.
func refName(name string) bool {
	return name != "" && len(name) <= maxText && !strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || unicode.IsControl(r) })
}
