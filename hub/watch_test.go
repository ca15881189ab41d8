package hub_test

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"

	"cairn/hub"
	"cairn/hub/devices"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
)

// A lookout counts how often the list of members is read.
type lookout struct {
	disk.FS
	reads atomic.Int64
}

func (l *lookout) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if filepath.Base(name) == devices.FileName {
		l.reads.Add(1)
	}
	return l.FS.OpenFile(name, flag, perm)
}

// What a watch is told costs one look at members and policy.
func TestALineOfAWatchCostsOneLook(t *testing.T) {
	t.Parallel()
	counted := &lookout{FS: disk.OS}
	h := open(t, hub.Options{FS: counted})
	h.member("ana", devices.Write, "laptop", "team")
	const lines, watches = 4, 15
	terminal := h.as("laptop")
	var follow []<-chan hubwire.Line
	begun := counted.reads.Load()
	for range watches {
		told, _ := terminal.watch("watch team personal")
		<-told
		follow = append(follow, told)
	}
	// The door looks twice more for each command, for room and for the right; the rest is for what the hub does every second.
	const beside = 20
	if n := counted.reads.Load() - begun; n > 3*watches+beside {
		t.Errorf("%d looks to begin %d watches", n, watches)
	}
	begun = counted.reads.Load()
	for i := range lines {
		h.follows("writes_per_hour: " + string(rune('1'+i)) + "\n")
		for _, told := range follow {
			<-told
		}
	}
	if n := counted.reads.Load() - begun; n > lines*watches+beside {
		t.Errorf("%d looks for %d lines", n, lines*watches)
	}
}
