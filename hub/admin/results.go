package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"cairn/hub/audit"
	"cairn/hub/chronicle"
	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// A Result is what a verb brought: JSON for programs, lines for people.
type Result interface{ fmt.Stringer }

// Invited is a fresh invite. Its text is as secret as a password until it has
// been used or has expired.
type Invited struct {
	Invite  string       `json:"invite"`
	Person  string       `json:"person"`
	Spaces  []string     `json:"spaces"`
	Role    devices.Role `json:"role"`
	Expires event.Time   `json:"expires"`
}

func (i Invited) String() string {
	return fmt.Sprintf("For one machine of %s, until %s. On it, run: cairn join INVITE\n%s\n", i.Person, i.Expires.Format("2006-01-02 15:04 MST"), i.Invite)
}

// A DeviceInfo is one device in a list.
type DeviceInfo struct {
	ID          event.DeviceID `json:"id"`
	Person      string         `json:"person"`
	Name        string         `json:"name"`
	Fingerprint string         `json:"fingerprint"`
	Enrolled    event.Time     `json:"enrolled"`
	Revoked     *event.Time    `json:"revoked,omitempty"`
	Renews      event.DeviceID `json:"renews,omitempty"` // whose key enrolled it: both are copies of one machine
}

func infoOf(d devices.Device) DeviceInfo {
	return DeviceInfo{
		ID: d.ID, Person: d.Person, Name: d.Name, Fingerprint: hubwire.Fingerprint(d.Key),
		Enrolled: d.Enrolled, Revoked: d.Revoked, Renews: d.Renews,
	}
}

// A PersonInfo is one member in a list.
type PersonInfo struct {
	Name    string                  `json:"name"`
	Admin   bool                    `json:"admin"`
	Rights  map[string]devices.Role `json:"rights"`
	Revoked *event.Time             `json:"revoked,omitempty"`
}

// An InviteInfo is an invite that still waits.
type InviteInfo struct {
	Person  string                  `json:"person"`
	Spaces  map[string]devices.Role `json:"spaces"`
	Expires event.Time              `json:"expires"`
}

// Everyone is the members, their devices, and who is awaited.
type Everyone struct {
	People  []PersonInfo `json:"people"`
	Devices []DeviceInfo `json:"devices"`
	Invites []InviteInfo `json:"invites"`
}

func (e Everyone) String() string {
	return table("PERSON", "RIGHTS")(func(row func(...any)) {
		for _, p := range e.People {
			row(p.Name+revokedMark(p.Revoked), rights(p.Rights))
		}
	}) + "\n" + table("DEVICE", "PERSON", "NAME", "ENROLLED", "KEY")(func(row func(...any)) {
		for _, d := range e.Devices {
			row(string(d.ID)+revokedMark(d.Revoked), d.Person, d.Name+copyMark(d.Renews), d.Enrolled.Format("2006-01-02"), d.Fingerprint)
		}
	}) + "\n" + table("AWAITED", "RIGHTS", "UNTIL")(func(row func(...any)) {
		for _, i := range e.Invites {
			row(i.Person, rights(i.Spaces), i.Expires.Format("2006-01-02 15:04"))
		}
	})
}

func revokedMark(at *event.Time) string {
	if at == nil {
		return ""
	}
	return " (revoked " + at.Format("2006-01-02") + ")"
}

func copyMark(of event.DeviceID) string {
	if of == "" {
		return ""
	}
	return " (copy of " + string(of) + ")"
}

func rights(r map[string]devices.Role) string {
	var words []string
	for _, space := range slices.Sorted(maps.Keys(r)) {
		words = append(words, space+"="+string(r[space]))
	}
	return cmp.Or(strings.Join(words, " "), "-")
}

// Revoked lists the devices that were shut out.
type Revoked struct {
	Devices []DeviceInfo `json:"devices"`
	Invites int          `json:"invites"` // how many were withdrawn
}

func (r Revoked) String() string {
	if len(r.Devices) == 0 && r.Invites == 0 {
		return "Nothing was left to revoke.\n"
	}
	var b strings.Builder
	if r.Invites > 0 {
		fmt.Fprintf(&b, "Open invites withdrawn: %d.\n", r.Invites)
	}
	for _, d := range r.Devices {
		fmt.Fprintf(&b, "Revoked device %s (%s) of %s.\n", d.ID, d.Name, d.Person)
	}
	return b.String()
}

// Granted is a right as it stands now.
type Granted struct {
	Person string       `json:"person"`
	Space  string       `json:"space"`
	Role   devices.Role `json:"role"` // empty for none
}

func (g Granted) String() string {
	return fmt.Sprintf("%s has %s in %s.\n", g.Person, cmp.Or(string(g.Role), "no right"), g.Space)
}

// SpaceMade is a new space.
type SpaceMade struct {
	Name string   `json:"name"`
	ID   event.ID `json:"id"`
}

func (s SpaceMade) String() string { return fmt.Sprintf("Made the space %s.\n", s.Name) }

// A SpaceState is one shared space in a list.
type SpaceState struct {
	Name    string   `json:"name"`
	ID      event.ID `json:"id,omitempty"`
	Head    string   `json:"head,omitempty"`
	Events  int      `json:"events"`
	Problem string   `json:"problem,omitempty"` // why it cannot be served
}

// SpaceList is the shared spaces.
type SpaceList struct {
	Spaces []SpaceState `json:"spaces"`
}

func (l SpaceList) String() string {
	return table("SPACE", "EVENTS", "HEAD")(func(row func(...any)) {
		for _, s := range l.Spaces {
			row(s.Name, s.Events, cmp.Or(s.Problem, s.Head))
		}
	})
}

// Status is the hub in a few numbers.
type Status struct {
	Hub     event.ID     `json:"hub_id"`
	HostKey string       `json:"host_key"`
	People  int          `json:"people"`
	Devices int          `json:"devices"` // that are let in
	Revoked int          `json:"revoked"`
	Invites int          `json:"invites"` // that wait
	Spaces  []SpaceState `json:"spaces"`

	AuditEvents *chronicle.State `json:"audit_events,omitempty"`
}

func (s Status) String() string {
	return fmt.Sprintf("hub %s\nhost key %s\n%d people, %d devices, %d revoked, %d awaited\n%s\n%s",
		s.Hub, s.HostKey, s.People, s.Devices, s.Revoked, s.Invites, auditWords(s.AuditEvents), SpaceList{s.Spaces})
}

// auditWords is a line if records wait to become events, or cannot.
func auditWords(s *chronicle.State) string {
	switch {
	case s == nil, s.Waiting == 0 && s.Problem == "":
		return ""
	case s.Problem != "":
		return fmt.Sprintf("audit events: %d records wait: %s\n", s.Waiting, s.Problem)
	}
	return fmt.Sprintf("audit events: %d records wait since %s; the hub writes them while it serves\n", s.Waiting, s.Since.Format("2006-01-02 15:04:05"))
}

// Records is a page of the audit log, newest first.
type Records struct{ audit.Page }

func (r Records) String() string {
	text := table("TIME", "WHO", "WHAT", "SPACE", "VERDICT", "RULES", "EVENTS")(func(row func(...any)) {
		for _, x := range r.Page.Records {
			row(x.At.Format("2006-01-02 15:04:05"), x.Person, whatOf(x), cmp.Or(x.Space, "-"), x.Verdict, cmp.Or(rulesOf(x), "-"), x.Count)
		}
	})
	if r.Damaged > 0 {
		text += fmt.Sprintf("%d lines could not be read.\n", r.Damaged)
	}
	return text
}

// whatOf is the act with what it was about.
func whatOf(r audit.Record) string {
	if strings.HasPrefix(r.Action, "policy ") && r.Policy > 0 {
		return fmt.Sprintf("%s %d", r.Action, r.Policy)
	}
	return strings.TrimSpace(r.Action + " " + r.Target)
}

// rulesOf lists the rules that refused, and those that only would have.
func rulesOf(r audit.Record) string {
	list := slices.Clone(r.Rules)
	for _, rule := range r.OnTrial {
		list = append(list, rule+" (on trial)")
	}
	return strings.Join(list, ", ")
}

// table lines up columns.
func table(head ...any) func(fill func(row func(...any))) string {
	return func(fill func(row func(...any))) string {
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		row := func(cells ...any) {
			for i, c := range cells {
				if i > 0 {
					fmt.Fprint(w, "\t")
				}
				fmt.Fprint(w, c)
			}
			fmt.Fprintln(w)
		}
		row(head...)
		fill(row)
		// A strings.Builder takes everything.
		_ = w.Flush()
		return b.String()
	}
}
