package mcptools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/internal/event"
)

type noArgs struct{}

// pong is what ping answers.
type pong struct {
	OK      bool   `json:"ok"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (d *desk) ping(context.Context, noArgs) (reply, error) {
	return reply{text: "cairn " + d.version + " is alive", value: pong{OK: true, Name: "cairn", Version: d.version}}, nil
}

// machineStatus is api.Status without null, which flat schemas cannot say.
type machineStatus struct {
	api.Status
	Spaces []spaceStatus `json:"spaces"`
}

type spaceStatus struct {
	api.SpaceStatus
	LastSync *event.Time `json:"last_sync,omitempty"`
}

func (d *desk) status(ctx context.Context, _ noArgs) (reply, error) {
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	s, err := agent.Status(ctx)
	if err != nil {
		return reply{}, err
	}
	return fitList(len(s.Spaces), func(n int) reply {
		out := machineStatus{Status: s, Spaces: make([]spaceStatus, n)}
		for i, space := range s.Spaces[:n] {
			space.LastError = shorten(oneLine(space.LastError), 200)
			out.Spaces[i] = spaceStatus{SpaceStatus: space, LastSync: space.LastSync}
		}
		return reply{text: statusText(out, len(s.Spaces)), value: out}
	}), nil
}

func statusText(s machineStatus, spaces int) string {
	lines := []string{"no agent runs in the background"}
	if s.Agent.Running {
		lines[0] = fmt.Sprintf("the agent runs (version %s, process %d)", s.Agent.Version, s.Agent.PID)
	}
	if s.Hub != "" {
		lines = append(lines, "hub: "+oneLine(s.Hub))
	}
	for _, space := range s.Spaces {
		lines = append(lines, spaceWords(space))
	}
	if left := spaces - len(s.Spaces); left > 0 {
		lines = append(lines, fmt.Sprintf("(%d more spaces do not fit here; \"cairn status\" lists them)", left))
	}
	if s.Refused > 0 {
		lines = append(lines, fmt.Sprintf("%d memories were refused by a gate; \"cairn refused\" lists them", s.Refused))
	}
	return strings.Join(lines, "\n")
}

func spaceWords(s spaceStatus) string {
	words := fmt.Sprintf("space %s: %d memories", s.Name, s.Events)
	if s.Indexed < s.Events {
		words += fmt.Sprintf(", %d of them not yet in the index", s.Events-s.Indexed)
	}
	if s.Ahead > 0 {
		words += fmt.Sprintf(", %d wait to be sent", s.Ahead)
	}
	if s.Behind > 0 {
		words += fmt.Sprintf(", %d wait to be fetched", s.Behind)
	}
	if s.Held > 0 {
		words += fmt.Sprintf(", %d wait for their time because a clock runs ahead", s.Held)
	}
	if s.Remote == "" {
		return words + ", on this machine only"
	}
	if s.LastSync != nil {
		words += ", last exchange " + s.LastSync.Format("2006-01-02 15:04") + " UTC"
	}
	if s.LastError != "" {
		words += ", last error: " + s.LastError
	}
	return words
}

func (d *desk) doctor(ctx context.Context, _ noArgs) (reply, error) {
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	r, err := agent.Doctor(ctx, false)
	if err != nil {
		return reply{}, err
	}
	checks := slices.Clone(r.Checks)
	// What is wrong comes first, and is the last to be left out.
	slices.SortStableFunc(checks, func(a, b api.Check) int { return boolOrder(a.OK) - boolOrder(b.OK) })
	return fitList(len(checks), func(n int) reply {
		out := api.Report{OK: r.OK, Checks: make([]api.Check, n)}
		for i, c := range checks[:n] {
			c.Detail, c.Fix = shorten(oneLine(c.Detail), 200), shorten(oneLine(c.Fix), 200)
			out.Checks[i] = c
		}
		return reply{text: reportText(out, len(checks)), value: out}
	}), nil
}

func boolOrder(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func reportText(r api.Report, checks int) string {
	lines := []string{fmt.Sprintf("all of %d checks hold", checks)}
	if !r.OK {
		lines[0] = "not all is well:"
	}
	for _, c := range r.Checks {
		if !c.OK {
			lines = append(lines, strings.TrimSuffix("- "+c.Name+": "+c.Detail+"; "+c.Fix, "; "))
		}
	}
	if left := checks - len(r.Checks); left > 0 {
		lines = append(lines, fmt.Sprintf("(%d more checks do not fit here; \"cairn doctor\" lists them)", left))
	}
	return strings.Join(lines, "\n")
}
