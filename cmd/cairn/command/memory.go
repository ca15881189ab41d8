package command

import (
	"os"
	"runtime/debug"
)

// heapGoal is what a hub or an agent should get along with. Both need much less
// but for a while, when a long history goes over at once; then it is better to
// collect garbage more often than to grow to twice of what is in use.
const heapGoal = 200 << 20

// beModest makes a process that lives long keep to heapGoal, unless the user
// has said something else in Go's own variable.
func beModest() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapGoal)
	}
}
