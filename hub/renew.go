package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// renew makes the key in the request a device beside that of the caller. The
// record of it names both.
func (h *Hub) renew(ctx context.Context, s *sshdoor.Session, who caller) error {
	var request hubwire.RenewRequest
	if err := json.NewDecoder(io.LimitReader(s.Stream, maxEnrolment)).Decode(&request); err != nil {
		return asEnrolProblem(hubwire.ErrEnrolment)
	}
	key, err := request.Key(s.ID)
	if err != nil {
		return asEnrolProblem(err)
	}
	var d devices.Device
	err = h.members.Change(ctx, func(m *devices.Members) (err error) {
		d, err = m.Renew(who.ID, key, h.now())
		return err
	})
	err = asEnrolProblem(err)
	r := audit.Record{
		Person: who.Person, Device: who.ID, Addr: s.Addr, Action: "renew", Target: string(d.ID), Verdict: audit.Done,
	}
	if err != nil {
		r.Verdict, r.Rules = audit.Refused, []string{string(problem.Of(err).Code)}
	}
	if err := errors.Join(err, h.audit.Append(r)); err != nil {
		return err
	}
	return json.NewEncoder(s.Stream).Encode(hubwire.Renewed{Device: d.ID})
}
