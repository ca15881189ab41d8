package hub

import (
	"fmt"
	"sync"
	"time"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// A quota counts what each device has written to a space within the hour, with
// the keys that it has enrolled itself: no new key is a new share. It
// forgets everything with the hub's process, in favor of the devices.
type quota struct {
	mu    sync.Mutex
	wrote map[stint][]written
}

type stint struct {
	device event.DeviceID
	space  string
}

type written struct {
	at     time.Time
	events int
}

// mayWrite refuses the push of a device that has written its share. One that
// has not yet may push all that it has: a backlog of weeks goes in one push.
func (q *quota) mayWrite(at pass, device event.DeviceID, space string, now time.Time) error {
	r := at.Rules()
	if r == nil || r.WritesPerHour(space) == 0 {
		return nil
	}
	most := r.WritesPerHour(space)
	if q.count(stint{device, space}, now) < most {
		return nil
	}
	return &problem.Problem{
		Code: problem.Busy, Rule: hubwire.RuleWrites,
		Message: fmt.Sprintf("this device has written to the space %s as often as the policy allows within an hour, %d times", space, most),
		Hint:    "nothing is lost: it is sent by itself when there is room again",
	}
}

func (q *quota) count(s stint, now time.Time) (events int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.wrote[s]
	for len(list) > 0 && now.Sub(list[0].at) >= time.Hour {
		list = list[1:]
	}
	for _, w := range list {
		events += w.events
	}
	if len(list) == 0 {
		delete(q.wrote, s)
	} else {
		q.wrote[s] = list
	}
	return events
}

// add counts what a device wrote.
func (q *quota) add(at pass, device event.DeviceID, space string, events int, now time.Time) {
	if r := at.Rules(); r == nil || r.WritesPerHour(space) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wrote == nil {
		q.wrote = map[stint][]written{}
	}
	s := stint{device, space}
	q.wrote[s] = append(q.wrote[s], written{now, events})
}
