package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/tailscale/hujson"
)

// FuzzJSONReadsWhatOthersRead holds the parser against two others. It may refuse what they take only for a key that stands
// twice, for text that is not UTF-8, and for very deep nesting.
func FuzzJSONReadsWhatOthersRead(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,2,]`, "// c\n{\"a\":1e5}", `{"a":"\ud83d\ude00","b":[null,true,-0.1]}`, `{a:+.5,'b':0xF,}`, `"x"`, `1`, `[1 /* c */ , 2]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Decode(text, JSON)
		std, hujsonErr := hujson.Standardize(bytes.Clone(text))
		if hujsonErr != nil {
			return
		}
		if err != nil {
			if reason, ok := errors.AsType[*ParseError](err); !ok || !mayRefuse(reason.Reason) {
				t.Fatalf("refused %q: %v", text, err)
			}
			return
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(std))
		dec.UseNumber()
		if err := dec.Decode(&want); err == nil && !sameValue(got, want) {
			t.Fatalf("read %#v, want %#v", got, want)
		}
	})
}

func mayRefuse(reason string) bool {
	for _, start := range []string{"a key stands twice", "the values are nested", "the file is not UTF-8", "the file starts with", "the file holds a zero"} {
		if len(reason) >= len(start) && reason[:len(start)] == start {
			return true
		}
	}
	return false
}

func sameValue(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		table, ok := got.(map[string]any)
		for key, value := range want {
			ok = ok && sameValue(table[key], value)
		}
		return ok && len(table) == len(want)
	case []any:
		list, ok := got.([]any)
		for i, value := range want {
			ok = ok && i < len(list) && sameValue(list[i], value)
		}
		return ok && len(list) == len(want)
	case json.Number:
		return got == any(jsonNumber(want))
	default:
		return got == want
	}
}

// FuzzInsertAndCut tries to break the promise on any text: an insertion is refused, or gives the bytes back when it is cut.
func FuzzInsertAndCut(f *testing.F) {
	for _, seed := range []string{"", "{}", "{\"mcpServers\":{\"a\":1},}", "a = 1\n[b]", "mcp_servers:\n  a: {}\n", "hooks: {}\n", "a: |\n  x", "# t\n", "<!-- tool:begin v1 -->\n<!-- tool:end -->", "- a\n", "a:\r\n  b\r\n"} {
		for i := range uint8(6) {
			f.Add([]byte(seed), i)
		}
	}
	entries := []Entry{jsonServer, jsonHook, tomlServer, yamlServer, yamlHook, block}
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		e := entries[int(which)%len(entries)]
		edit, err := Insert(text, e)
		if err != nil {
			return
		}
		after := edit.Apply(text)
		cut, ok := CutText(after, e, edit.Put, edit.At)
		if !ok || !bytes.Equal(cut.Apply(after), text) {
			t.Fatalf("%q became %q, cut %v", text, after, ok)
		}
		if edits, err := Cut(after, e); err == nil {
			if state, err := Find(applyAll(after, edits), e); state != Absent || err != nil {
				t.Fatalf("cut left %v, %v", state, err)
			}
		}
	})
}
