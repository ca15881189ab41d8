package sshdoor

import (
	gliderssh "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// NobodyConfirms has clients never say that they have closed a session too. Call it before a client comes.
func (d *Door) NobodyConfirms() {
	serve := d.server.ChannelHandlers["session"]
	d.server.ChannelHandlers["session"] = func(s *gliderssh.Server, c *gossh.ServerConn, offered gossh.NewChannel, ctx gliderssh.Context) {
		serve(s, c, unconfirmed{offered, ctx}, ctx)
	}
}

type unconfirmed struct {
	gossh.NewChannel
	ctx gliderssh.Context
}

// Accept returns requests that end with the connection only.
func (u unconfirmed) Accept() (gossh.Channel, <-chan *gossh.Request, error) {
	ch, requests, err := u.NewChannel.Accept()
	without := make(chan *gossh.Request)
	go func() {
		for r := range requests {
			without <- r
		}
		<-u.ctx.Done()
		close(without)
	}()
	return ch, without, err
}
