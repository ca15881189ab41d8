package mcptools

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// A message is a line that can be handed to the protocol.
type message struct {
	id     json.RawMessage // as the client wrote it; nil for a notification
	method string
	tool   string // that a tools/call calls
	answer bool   // to a question of ours
	text   []byte
}

// A refusal is why a line is not a message. The id is nil if none could be
// read. Its words never quote the line.
type refusal struct {
	id     json.RawMessage
	code   int
	reason string
}

// parse looks only as far into a line as it takes to answer it.
func parse(l line) (message, *refusal) {
	if l.long {
		return message{}, &refusal{earlyID(l.text), mcp.INVALID_REQUEST, "the message is longer than 16 MiB: nothing was done, shorten it or split it"}
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params calledName      `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(l.text, &head); err != nil {
		return message{}, notARequest(l.text)
	}
	id := head.ID
	if bytes.Equal(id, []byte("null")) {
		id = nil
	}
	if id != nil && !isID(id) {
		return message{}, &refusal{nil, mcp.INVALID_REQUEST, "the id of a request is a string or a number"}
	}
	if !unchanged(l.text) {
		return message{}, &refusal{id, mcp.PARSE_ERROR, "the message is not valid UTF-8 text: nothing was done, convert it first"}
	}
	isAnswer := head.Method == "" && (head.Result != nil || head.Error != nil)
	return message{id: id, method: head.Method, tool: string(head.Params), answer: isAnswer, text: l.text}, nil
}

// A calledName is the name among the parameters of a call. Whatever else they
// are is for the protocol to judge.
type calledName string

func (c *calledName) UnmarshalJSON(params []byte) error {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(params, &p) == nil {
		*c = calledName(p.Name)
	}
	return nil
}

// isID tells strings and numbers from other JSON.
func isID(value json.RawMessage) bool {
	c := value[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9'
}

func notARequest(text []byte) *refusal {
	if json.Valid(text) {
		return &refusal{nil, mcp.INVALID_REQUEST, "the message is not one JSON-RPC request; send several as several lines"}
	}
	return &refusal{nil, mcp.PARSE_ERROR, "the message is not JSON"}
}

// earlyID finds the id in the start of a message, if it stands there.
func earlyID(start []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(start))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" && isID(value) {
			return value
		}
	}
}

// unchanged says whether the JSON package reads the strings of text as they
// are. It would put U+FFFD for a byte that is not UTF-8 and for half of a
// surrogate pair, and what was saved would not be what was said.
func unchanged(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return true
		}
		text = text[i:]
		switch surrogate(text) {
		case 0:
			text = text[2:]
		case 'h':
			if surrogate(text[6:]) != 'l' {
				return false
			}
			text = text[12:]
		case 'l':
			return false
		}
	}
}

// surrogate says whether text starts with the escape of the high (h) or the
// low (l) half of a surrogate pair.
func surrogate(text []byte) byte {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}
	switch c := text[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return 'h'
	case c >= 'c' && c <= 'f':
		return 'l'
	}
	return 0
}
