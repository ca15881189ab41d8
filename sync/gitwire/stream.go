package gitwire

import (
	"context"
	"fmt"
	"io"
)

// closeAtEnd closes the stream if ctx ends before stop is called: nothing else ends a read that waits.
func closeAtEnd(ctx context.Context, c io.Closer) (stop func() bool) {
	return context.AfterFunc(ctx, func() { c.Close() })
}

// closeWrite says that the request is complete, to a stream that has to know: HTTP does, while ssh and pipes go by what the
// request says itself.
func closeWrite(w io.Writer) error {
	if c, ok := w.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// orCause returns why ctx ended, if it did, in place of the error of a stream that was closed for it.
func orCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return err
}
