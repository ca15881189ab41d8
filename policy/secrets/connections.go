package secrets

import (
	"bytes"
	"strings"
)

// servers begin what a connection string says of its server.
var servers = list{"jdbc:", "server=", "data source=", "host=", "addr="}

// inConnection reports a name in a connection string: on its line a server
// stands before it, and a mark that parts the members right before it.
func inConnection(text []byte, name span) bool {
	if name.start == 0 || strings.IndexByte(";&?", text[name.start-1]) < 0 {
		return false
	}
	line := text[max(0, name.start-maxLine):name.start]
	line = lowerASCII(nil, line[bytes.LastIndexByte(line, '\n')+1:])
	return containsAny(line, servers)
}

// connectionPassword takes any password that stands for itself, as in a URL.
func connectionPassword(text []byte, name span) (match, bool) {
	at, op := readOperator(text, name)
	if op != assigned {
		return match{}, false
	}
	readings := readValue(text, at)
	v := readings[len(readings)-1]
	value := v.in(text)
	line := text[max(0, name.start-maxLine):name.start]
	if isDefaultLogin("", string(value)) && containsAny(line[bytes.LastIndexByte(line, '\n')+1:], list{"localhost", "127.0.0.1", "[::1]"}) {
		return match{}, false
	}
	return match{span: v}, len(value) >= 6 && isGiven(value) && !isVariableName(value)
}
