package rules

import "time"

// CheckNew is Check for a file that is to become the policy at this moment.
// Besides, no exception or trial may last longer than a year. The second
// result lists what is over already, which is no mistake: it does nothing.
//
// A file that is in force is not held to that again, lest a wrong clock undo
// it; what would last too long simply does not count.
func CheckNew(src []byte, now time.Time) (Summary, []Finding, error) {
	f, err := Parse(src)
	if err != nil {
		return Summary{}, nil, err
	}
	over, err := f.Fresh(now)
	if err != nil {
		return Summary{}, nil, err
	}
	return f.Summary(), over, nil
}

// Fresh is what CheckNew asks beside Check, of a file that was read already.
func (f *File) Fresh(now time.Time) (over []Finding, err error) {
	long, over := f.ends(now)
	if err := checked(long); err != nil {
		return nil, err
	}
	return over, nil
}

// ends lists what ends too late and what has ended.
func (f *File) ends(now time.Time) (long, over []Finding) {
	look := func(what string, until time.Time, line, column int, after string) {
		at := Finding{Line: line, Column: column}
		switch {
		case until.IsZero() || counts(until, now):
		case now.Before(until):
			at.Message = what + ": it ends more than a year from now"
			long = append(long, at)
		default:
			at.Message = what + ": it ended with " + until.Add(-day).Format(time.DateOnly) + after
			over = append(over, at)
		}
	}
	for _, p := range f.Patterns {
		look("pattern "+p.ID, p.Until, p.Line, p.column, ", and the pattern blocks")
	}
	for _, a := range f.Allow {
		look("allow "+a.Rule, a.Until, a.Line, a.column, " and counts no more")
	}
	for _, o := range f.Off {
		look("off "+o.Rule, o.Until, o.Line, o.column, " and counts no more")
	}
	return long, over
}
