package admin

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"cairn/hub/audit"
	"cairn/hub/devices"
)

// forms are the verbs that Run understands, with what each takes.
var forms = map[string]string{
	"invite":  "invite PERSON --space S... [--role read|write|admin] [--expires 24h] --addr HOST:PORT",
	"devices": "devices",
	"revoke":  "revoke DEVICE|PERSON",
	"grant":   "grant PERSON SPACE read|write|admin|none",
	"spaces":  "spaces [create NAME]",
	"status":  "status",
	"purge":   "purge EVENT... --space S --reason R [--person P]",
	"policy":  "policy log|show [N]",
	"audit":   "audit [-n 100] [--person P] [--space S] [--action A]",
}

// Usage is what a verb takes, for whoever explains it: its form, empty if there
// is no such verb, and its flags with what each means.
func Usage(verb string) (form string, f *flag.FlagSet) {
	of := newFlags(verb)
	switch verb {
	case "invite":
		of = inviteFlags(new(InviteRequest), new(string))
	case "purge":
		of = purgeFlags(new(PurgeRequest))
	case "audit":
		of = auditFlags(new(audit.Filter))
	}
	return forms[verb], of.FlagSet
}

// flags are those of one verb; unlike the standard ones they may come after
// words.
type flags struct {
	*flag.FlagSet
}

func newFlags(verb string) flags {
	f := flags{flag.NewFlagSet(verb, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	return f
}

func inviteFlags(r *InviteRequest, role *string) flags {
	f := newFlags("invite")
	f.Func("space", "a shared `space` to let the person into; several may be given", func(s string) error {
		r.Spaces = append(r.Spaces, strings.Split(s, ",")...)
		return nil
	})
	f.StringVar(role, "role", string(devices.Write), "what the person may do there: read, write or admin")
	f.DurationVar(&r.TTL, "expires", devices.DefaultTTL, "how long the invite is good for")
	f.StringVar(&r.Addr, "addr", "", "host and port by which the machine reaches the hub")
	return f
}

func purgeFlags(r *PurgeRequest) flags {
	f := newFlags("purge")
	f.StringVar(&r.Space, "space", "", "the space that the events are in")
	f.StringVar(&r.Person, "person", "", "whose, if it is the personal space")
	f.StringVar(&r.Reason, "reason", "", "why, for the record of purges")
	return f
}

func auditFlags(to *audit.Filter) flags {
	f := newFlags("audit")
	f.IntVar(&to.Limit, "n", 100, "how many at most, the newest")
	f.StringVar(&to.Person, "person", "", "only what this person did")
	f.StringVar(&to.Space, "space", "", "only in this space")
	f.StringVar(&to.Action, "action", "", "only of this kind, such as push, revoke or grant")
	return f
}

// words parses args and returns what is no flag, between least and most.
func (f flags) words(args []string, least, most int) ([]string, error) {
	f.Bool("json", false, "")
	var words []string
	for {
		if err := f.Parse(args); err != nil {
			// The library's message repeats what was typed.
			return nil, usage(f.Name(), fmt.Sprintf("%s was given a flag that it does not have, or a value that does not fit", f.Name()))
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	if len(words) < least || len(words) > most {
		return nil, usage(f.Name(), fmt.Sprintf("%s was given %d words, it takes %s", f.Name(), len(words), between(least, most)))
	}
	return words, nil
}

func between(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
