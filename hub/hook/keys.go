package hook

import (
	"bytes"
	"fmt"

	"cairn/internal/event"
	"cairn/internal/problem"
)

// ParseKeys reads a list of the devices whose events are taken: the public key
// of each, a line as OpenSSH writes it ("ssh-ed25519 …"), with empty lines and
// lines that begin with # between. A line that is anything else is an error
// with its number: a list that is half understood would shut out or let in the
// wrong ones.
func ParseKeys(list []byte) (map[event.DeviceID]bool, error) {
	keys := map[event.DeviceID]bool{}
	n := 0
	for line := range bytes.Lines(list) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		id, ok := deviceOf(line)
		if !ok {
			return nil, &problem.Problem{
				Code:    problem.Usage,
				Message: fmt.Sprintf("line %d of the list of keys is not the public key of a device", n),
				Hint:    "each line is as ssh-keygen -y -f device_key prints it: ssh-ed25519 and the key",
			}
		}
		keys[id] = true
	}
	return keys, nil
}

func deviceOf(line []byte) (event.DeviceID, bool) {
	key, ok := publicKey(line)
	if !ok {
		return "", false
	}
	return event.DeviceOf(key), true
}
