package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/golden"
	"cairn/internal/measure"
	"cairn/internal/problem"
)

// RecallOptions say what to ask and whom.
type RecallOptions struct {
	Sets []golden.Set
	// Memory is the user's own, for sets without notes. It is called once at
	// most; nothing is saved in it. The caller lets go of it.
	Memory   func(context.Context) (api.Agent, error)
	Progress func(string) // as in Options
}

// Recall puts questions to a memory as "cairn ask" does, and says how well they
// were answered. A set that brings its notes has a scratch memory of its own.
func Recall(ctx context.Context, opt RecallOptions) (r RecallReport, err error) {
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	w := &work{ctx: ctx, opt: Options{Progress: opt.Progress}}
	if w.dir, err = os.MkdirTemp("", "cairn-bench-"); err != nil {
		return r, fmt.Errorf("make a scratch folder: %w", err)
	}
	run := recallRun{work: w, memory: opt.Memory}
	for i, set := range opt.Sets {
		if err = run.set(i, set); err != nil {
			break
		}
	}
	return run.reportOn(), errors.Join(err, w.clear())
}

type recallRun struct {
	*work
	memory  func(context.Context) (api.Agent, error)
	own     api.Agent // what memory returned
	notes   int
	results []recallResult
}

// A recallResult is one question with its answer.
type recallResult struct {
	set      int
	question golden.Question
	outcome  golden.Outcome
	hits     []api.Hit
}

func (r *recallRun) set(i int, set golden.Set) error {
	if len(set.Notes) == 0 {
		return r.askOwn(i, set)
	}
	home, err := r.makeHome(fmt.Sprintf("set-%d", i))
	if err != nil {
		return err
	}
	m, err := r.work.own(home)
	if err != nil {
		return err
	}
	ids, err := r.load(m, set.Notes)
	if err != nil {
		return err
	}
	// A question that comes before the index knows all notes is no fault of it.
	if err := r.untilIn(personal, m, func(s api.SpaceStatus) bool { return s.Indexed == s.Events }); err != nil {
		return err
	}
	r.notes += len(set.Notes)
	err = r.askAll(i, m, set, func(want string, h api.Hit) bool { return ids[want] == h.ID })
	return errors.Join(err, m.close())
}

func (r *recallRun) askOwn(i int, set golden.Set) (err error) {
	if r.own == nil {
		if r.own, err = r.memory(r.ctx); err != nil {
			return err
		}
	}
	return r.askAll(i, r.own, set, isNamed)
}

// minRef is how many characters of an id's start or end name it.
const minRef = 6

// isNamed says whether a hit is the note that a file calls so: by its id, the
// start or end of that, or its title.
func isNamed(name string, h api.Hit) bool {
	if strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(h.Title)) {
		return true
	}
	ref, id := strings.ToLower(strings.TrimPrefix(name, "~")), string(h.ID)
	return len(ref) >= minRef && (strings.HasPrefix(id, ref) || strings.HasSuffix(id, ref))
}

// load saves notes and returns the ids of their events by theirs. Each has a
// key of its own, or two that say the same would be one.
func (r *recallRun) load(a api.Agent, notes []golden.Note) (map[string]event.ID, error) {
	ids := map[string]event.ID{}
	for part := range slices.Chunk(notes, stockBatch) {
		r.progress("storing notes: %d of %d", len(ids), len(notes))
		var drafts []api.Draft
		for _, n := range part {
			drafts = append(drafts, recallDraft(n))
		}
		results, err := a.Import(r.ctx, drafts)
		if err != nil {
			return nil, fmt.Errorf("store the notes of the file: %w", err)
		}
		for i, result := range results {
			if p := result.Problem; p != nil {
				named := *p
				named.Message = fmt.Sprintf("the note %q of the file cannot be stored: %s", part[i].ID, p.Message)
				return nil, &named
			}
			ids[part[i].ID] = result.Receipt.ID
		}
	}
	return ids, nil
}

func recallDraft(n golden.Note) api.Draft {
	content := n.Text
	if content == "" {
		content = n.Title
	}
	return api.Draft{
		Space: personal, Tags: n.Tags, Key: "bench " + n.ID, Historic: true,
		Payload: &event.Observe{Summary: n.Title, Content: content},
		Actor:   event.Actor{Kind: event.ActorAgent, ID: "bench", Harness: "bench"},
	}
}

func (r *recallRun) askAll(i int, a api.Agent, set golden.Set, is func(want string, h api.Hit) bool) error {
	for n, q := range set.Questions {
		r.progress("asking: %d of %d", n, len(set.Questions))
		answer, err := a.Ask(r.ctx, api.Query{Text: q.Text, Limit: golden.Depth})
		if err != nil {
			return fmt.Errorf("line %d: ask %q: %w", q.Line, q.Text, err)
		}
		if answer.Partial {
			p := problem.New(problem.Busy, fmt.Sprintf("line %d: ask %q: the answer may lack notes: %s", q.Line, q.Text, answer.Note))
			p.Hint = "nothing was measured; try again"
			return p
		}
		outcome := golden.OutcomeOf(q, len(answer.Hits), func(want string, i int) bool { return is(want, answer.Hits[i]) })
		r.results = append(r.results, recallResult{i, q, outcome, answer.Hits})
	}
	return nil
}

func (r *recallRun) reportOn() RecallReport {
	out := RecallReport{Bench: "recall", Machine: measure.ThisMachine(), Notes: r.notes, Lost: []LostQuestion{}}
	var all []golden.Outcome
	byClass := map[string][]golden.Outcome{}
	for _, res := range r.results {
		all = append(all, res.outcome)
		byClass[res.question.Class] = append(byClass[res.question.Class], res.outcome)
		q := res.lost()
		out.asked = append(out.asked, q)
		if res.outcome.Lost() {
			out.Lost = append(out.Lost, q)
		}
	}
	out.All = golden.FiguresOf(all)
	for class, outcomes := range byClass {
		if class == "" && len(byClass) == 1 {
			break
		}
		out.Classes = append(out.Classes, ClassFigures{cmp.Or(class, "other"), golden.FiguresOf(outcomes)})
	}
	slices.SortFunc(out.Classes, func(a, b ClassFigures) int { return strings.Compare(a.Class, b.Class) })
	return out
}
