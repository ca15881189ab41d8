package mcptools

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// failed is an error as a line. The id must be JSON; nil stands for null.
func failed(id json.RawMessage, code int, reason string) []byte {
	line, err := json.Marshal(mcp.JSONRPCError{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(id),
		Error:   mcp.NewJSONRPCErrorDetails(code, reason, nil),
	})
	if err != nil {
		panic("mcptools: " + err.Error()) // nothing in it could fail
	}
	return line
}

// write sends an answer, behind the notifications that its making caused.
func (s *session) write(answer []byte) {
	if answer == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.client.ClientNotifications()) > 0 {
		line, err := json.Marshal(<-s.client.ClientNotifications())
		if err != nil {
			s.log.Error("a notification cannot be written as JSON")
			continue
		}
		s.send(line)
	}
	s.send(answer)
}

// send writes one line. The caller holds mu.
func (s *session) send(line []byte) {
	if s.closed {
		s.log.Debug("an answer came too late")
		return
	}
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		s.closed = true
		s.gone(fmt.Errorf("write to the client: %w", err))
	}
}
