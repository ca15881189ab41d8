package localapi

import (
	"bufio"
	"context"
	"io"
	"net/http"

	"cairn/agent/api"
	"cairn/internal/problem"
)

// Import sends the drafts as a stream, so that together they may be of any
// size. One that cannot be sent is refused on this side, at its place among
// the results, and does not stop the others.
func (c *Client) Import(ctx context.Context, drafts []api.Draft) ([]api.ImportResult, error) {
	s := &draftStream{drafts: drafts, refused: map[int]*problem.Problem{}}
	ctx, done := c.attended(ctx)
	defer done()
	body, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.CloseWithError(s.write(w))
	}()
	answers, err := request[[]api.ImportResult](ctx, c, http.MethodPost, methodsPath+importMany, body)
	body.Close() // ends the writing if the agent did not want to hear all of it
	<-written
	if err != nil {
		return nil, asProblem(err)
	}
	return s.merge(answers)
}

// A draftStream is one import on its way. Its methods run one after the other.
type draftStream struct {
	drafts  []api.Draft
	refused map[int]*problem.Problem // by place
}

func (s *draftStream) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i, d := range s.drafts {
		b, err := encode(d)
		if err != nil {
			s.refused[i] = problem.Of(err)
			continue
		}
		if err := writeFrame(out, frameItem, b); err != nil {
			return err
		}
	}
	if err := writeFrame(out, frameEnd, nil); err != nil {
		return err
	}
	return out.Flush()
}

// merge puts the refusals of this side between the answers of the other.
func (s *draftStream) merge(answers []api.ImportResult) ([]api.ImportResult, error) {
	if len(s.refused) == 0 {
		return answers, nil
	}
	if len(answers)+len(s.refused) != len(s.drafts) {
		return nil, problem.New(problem.Failed, "the agent did not say what became of every item: import again, what was saved is not saved twice")
	}
	all := make([]api.ImportResult, len(s.drafts))
	for i := range all {
		if p := s.refused[i]; p != nil {
			all[i].Problem = p
			continue
		}
		all[i], answers = answers[0], answers[1:]
	}
	return all, nil
}
