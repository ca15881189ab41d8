package localapi

import (
	"context"
	"time"

	"cairn/internal/paths"
)

// DialWith is Dial with another patience.
func DialWith(ctx context.Context, home paths.Home, patience time.Duration) (*Client, error) {
	return open(ctx, home, patience)
}

// Protocol is the number of the protocol that a Client speaks.
const Protocol = protocol
