package mcptools

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestLinesAreSplitAsTheyCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 50
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \r\t\né"))).Draw(t, "text")
		long := rapid.IntRange(0, 200_000).Draw(t, "long")
		text += strings.Repeat("x", long) + "\n" + text
		in := io.Reader(strings.NewReader(text))
		if rapid.Bool().Draw(t, "bytewise") && long < 1000 {
			in = iotest.OneByteReader(in)
		}
		r := newLineReader(in)
		r.limit = limit
		for want := range strings.Lines(text) {
			if strings.TrimSpace(want) == "" {
				continue
			}
			got, err := r.next()
			if err != nil || got.long != (len(want) > limit) {
				t.Fatalf("%.80q: %+v, %v", want, got, err)
			}
			if !got.long && string(got.text) != want || got.long && !strings.HasPrefix(want, string(got.text)) {
				t.Fatalf("read %.80q, want %.80q", got.text, want)
			}
		}
		if l, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %+v, %v", l, err)
		}
	})
}

// Not parallel: it counts what is allocated.
func TestALineOfAnyLengthTakesBoundedMemory(t *testing.T) {
	const long = 500 << 20
	in := io.MultiReader(
		strings.NewReader(`{"jsonrpc":"2.0","id":"early","method":"tools/call","params":{"name":"remember","arguments":{"text":"`), io.LimitReader(sameByte('x'), long),
		strings.NewReader("\n"), io.LimitReader(sameByte('y'), 20<<20),
		strings.NewReader("\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`),
	)
	var out bytes.Buffer
	s := newSession(newServer(Options{Version: "1"}, quietLog), &out, quietLog)
	before := allocated()
	if err := s.run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if used := allocated() - before; used > 300<<20 {
		t.Errorf("%d bytes were allocated for lines of %d", used, long)
	}
	for i, want := range []string{`"id":"early","error":{"code":-32600`, `"id":null,"error":{"code":-32600`, `"id":1,"result"`} {
		if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Errorf("answer %d: %q, %v", i, line, err)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type sameByte byte

func (b sameByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func TestTheIDOfALongMessageIsFoundIfItComesEarly(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]string{
		`{"id":7,"x":"aaa`: `7`,
		`{"method":"m","x":{"id":1},"id":"a\"b","y":"a`: `"a\"b"`,
		`{"id":-12345678901234567890,`:                  `-12345678901234567890`,
		`{"x":"aaa`:                                     ``,
		`{"id":{},"x`:                                   ``,
		`{"id":"aaa`:                                    ``,
		`["id",1,`:                                      ``,
		`x`:                                             ``,
	} {
		if got := string(earlyID([]byte(start))); got != want {
			t.Errorf("%s: %q, want %q", start, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), false)
	f.Add([]byte(`{"id":"\ud83d\ude00`), true)
	f.Add([]byte(`{"a":"\\ud83d","b":"\uDe00"}`), false)
	f.Fuzz(func(t *testing.T, text []byte, long bool) {
		m, bad := parse(line{text: text, long: long})
		if bad != nil {
			if out := failed(bad.id, bad.code, bad.reason); !bytes.HasPrefix(out, []byte(`{"jsonrpc":"2.0","id":`)) {
				t.Fatalf("answered %q", out)
			}
			return
		}
		if long || m.id != nil && !isID(m.id) {
			t.Fatalf("taken for a message: %+v", m)
		}
	})
}
