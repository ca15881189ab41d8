package demo

import (
	"errors"

	"cairn/cmd/cairn/mcpclient"
)

// callTool starts this program as an MCP server for a machine, as an AI tool
// would, and calls one tool.
func (s *stage) callTool(m *machine, name string, args map[string]any) (a mcpclient.Answer, err error) {
	c, err := mcpclient.Start(s.ctx, s.opt.Program, m.home, "demo-"+m.name)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.Call(s.ctx, name, args)
}
