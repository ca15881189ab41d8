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
	return containsAny(lineBefore(text, name.start), servers)
}

// lineBefore is what stands on the line before at, in lower case.
func lineBefore(text []byte, at int) []byte {
	line := text[max(0, at-maxLine):at]
	return lowerASCII(nil, line[bytes.LastIndexByte(line, '\n')+1:])
}

// namesLocalHost reports a connection string whose last server is this machine.
func namesLocalHost(line []byte) bool {
	server := 0
	for _, s := range servers {
		server = max(server, bytes.LastIndex(line, []byte(s)))
	}
	host := line[server:]
	if end := bytes.IndexAny(host, ";&?"); end >= 0 {
		host = host[:end]
	}
	return containsAny(host, list{"localhost", "127.0.0.1", "[::1]"})
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
	if isDefaultLogin("", string(value)) && namesLocalHost(lineBefore(text, name.start)) {
		return match{}, false
	}
	return match{span: v}, len(value) >= 6 && isGiven(value) && !isVariableName(value)
}
