package localapi

import (
	"context"
	"errors"
	"time"
)

// attended is the context for one call. It ends with ErrHung as its cause when
// the agent has stopped answering anything: a call itself may take as long as
// it takes. The caller calls done when the call is over.
func (c *Client) attended(ctx context.Context) (attended context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for missed := 0; missed < 2; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(c.patience / 2):
			}
			if _, err := c.Ping(ctx); errors.Is(err, ErrHung) {
				missed++
			} else {
				missed = 0
			}
		}
		cancel(ErrHung)
	}()
	return ctx, func() { cancel(nil) }
}
