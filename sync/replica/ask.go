package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cairn/internal/device"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
)

// ask runs a command that answers once. What the hub itself says no with is
// a *problem.Problem.
func (h *Hub) ask(ctx context.Context, command string, input []byte) ([]byte, error) {
	s, err := h.open(ctx, command)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.exchange(ctx, command, input)
}

// Spaces are the spaces this machine may read.
func (h *Hub) Spaces(ctx context.Context) (list []hubwire.SpaceInfo, err error) {
	err = h.askJSON(ctx, hubwire.CmdSpaces, nil, &list)
	return list, err
}

func (h *Hub) askJSON(ctx context.Context, command string, input []byte, into any) error {
	answer, err := h.ask(ctx, command, input)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return &RefusedError{Message: "its answer to " + command + " is not understood; is it a cairn hub of this version?"}
	}
	return nil
}

// Admin runs one of the hub's admin verbs, with its arguments, and returns
// what it prints.
func (h *Hub) Admin(ctx context.Context, args []string) ([]byte, error) {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return h.ask(ctx, "hub "+strings.Join(quoted, " "), nil)
}

// silence is how long a watch may say nothing before it counts as broken: the
// hub pings more often than that.
const silence = 45 * time.Second

// Watch calls fn with each line that the hub says about the spaces, until ctx
// ends, fn returns an error, or the connection breaks; it returns that error.
func (h *Hub) Watch(ctx context.Context, spaces []string, fn func(hubwire.Line) error) error {
	s, err := h.open(ctx, hubwire.CmdWatch+" "+strings.Join(spaces, " "))
	if err != nil {
		return err
	}
	defer s.Close()
	quiet := time.AfterFunc(silence, func() { s.Session.Close() })
	defer quiet.Stop()
	lines := bufio.NewScanner(s.out)
	lines.Buffer(make([]byte, 4096), 1<<20)
	for lines.Scan() {
		quiet.Reset(silence)
		var l hubwire.Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return offline("watch the hub", errors.New("a line is not understood"))
		}
		if err := fn(l); err != nil {
			return err
		}
	}
	err = lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return s.ended(ctx, "watch the hub", err)
}

// Renew makes key a device at the hub beside the one that is logged in, of the
// same person. Asking again with the same key does no harm. The connection
// goes on with the old key, until Rekey.
func (h *Hub) Renew(ctx context.Context, key device.Key) error {
	c, err := h.connect(ctx)
	if err != nil {
		return err
	}
	request, err := json.Marshal(hubwire.NewRenewRequest(key, c.SessionID()))
	if err != nil {
		return fmt.Errorf("renew the device key: %w", err)
	}
	s, err := startSession(ctx, c, hubwire.CmdRenew)
	if err != nil {
		h.forget(c)
		return offline("renew the device key", err)
	}
	defer s.Close()
	_, err = s.exchange(ctx, hubwire.CmdRenew, request)
	return err
}

// Enrol makes key a device at the hub of an invite.
func Enrol(ctx context.Context, i invite.Invite, key device.Key, name string) (hubwire.Enrolled, error) {
	at, signer, err := inviteAddress(i)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	c, err := dial(ctx, at, signer)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	defer c.Close()
	request, err := json.Marshal(hubwire.NewEnrolRequest(key, name, c.SessionID()))
	if err != nil {
		return hubwire.Enrolled{}, fmt.Errorf("enrol: %w", err)
	}
	s, err := startSession(ctx, c, hubwire.CmdEnrol)
	if err != nil {
		return hubwire.Enrolled{}, offline("enrol", err)
	}
	defer s.Close()
	answer, err := s.exchange(ctx, hubwire.CmdEnrol, request)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	var e hubwire.Enrolled
	if err := json.Unmarshal(answer, &e); err != nil {
		return hubwire.Enrolled{}, &RefusedError{Message: "its answer to the enrolment is not understood"}
	}
	return e, nil
}

// Policy asks the hub about the team's policy, or hands it a signature. What is
// answered has been checked by nobody yet.
func (h *Hub) Policy(ctx context.Context, r hubwire.PolicyRequest) (answer hubwire.PolicyAnswer, err error) {
	request, err := json.Marshal(r)
	if err != nil {
		return answer, fmt.Errorf("ask about the policy: %w", err)
	}
	err = h.askJSON(ctx, hubwire.CmdPolicy, request, &answer)
	return answer, err
}

// Roster asks the hub for its list of devices, which nobody has checked yet.
func (h *Hub) Roster(ctx context.Context) (answer hubwire.RosterAnswer, err error) {
	err = h.askJSON(ctx, hubwire.CmdRoster, nil, &answer)
	return answer, err
}
