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
