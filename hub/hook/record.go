package hook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cairn/hub/audit"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// recordWithin is how long a record waits for those of other pushes, also if
// the time of its own is over.
const recordWithin = 10 * time.Second

// Failed is the record of a push that could not be judged.
func Failed(who Pusher, err error) audit.Record {
	p := problem.Of(err)
	r := by(who)
	r.Verdict, r.Rules = audit.Failed, []string{cmp.Or(p.Rule, string(p.Code))}
	return r
}

func by(who Pusher) audit.Record {
	return audit.Record{Person: who.Name, Addr: who.Addr, Action: "push"}
}

// record says what came of a push. No name that the pusher chose is in it.
func (j *judge) record(lines []string, err error) audit.Record {
	r := by(j.o.Pusher)
	if err != nil {
		r = Failed(j.o.Pusher, err)
	}
	r.Space = j.space.Name
	if j.o.Policy != nil {
		r.Policy = j.o.Policy.Number()
	}
	if !j.new.IsZero() {
		r.Ref = event.MainRef
	}
	if r.OnTrial = j.trials.list; err != nil {
		return r
	}
	if len(lines) == 0 {
		r.Verdict, r.Events, r.Commit = audit.Taken, j.report.Events, j.new.String()
		return r
	}
	r.Verdict = audit.Refused
	broke := func(rule string) {
		if rule != "" && !slices.Contains(r.Rules, rule) {
			r.Rules = append(r.Rules, rule)
		}
	}
	for _, f := range j.report.Findings {
		broke(f.Rule)
		if f.Event != "" && !slices.Contains(r.Events, f.Event) && len(r.Events) < maxNamed {
			r.Events = append(r.Events, f.Event)
		}
	}
	for _, line := range lines {
		if told, ok := hubwire.ParseRefusal(line); ok {
			broke(told.Rule)
		}
	}
	return r
}

// maxNamed is how many refused events a record names.
const maxNamed = 100

// keep writes a record, if there is where to. What is not on record is not
// taken.
func (o Options) keep(ctx context.Context, r audit.Record) error {
	if o.Ledger == nil {
		return nil
	}
	return Keep(ctx, o.Ledger, r)
}

// Keep writes a record. The error is a *problem.Problem.
func Keep(ctx context.Context, to *audit.File, r audit.Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	if err := to.Append(ctx, r); err != nil {
		return &problem.Problem{Code: problem.Failed, Message: "the push could not be put on record, so it is not taken", Hint: hintOperator, Err: err}
	}
	return nil
}
