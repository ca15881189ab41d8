package splice

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// The generators below make files as people and tools leave them: comments in odd places, tabs, CRLF, trailing commas, a
// missing last newline, numbers too big for a float, quotes of all sorts.

var (
	scalar = rapid.SampledFrom([]string{
		`"x"`, `"a, \"b\" }"`, `"// no comment"`, `12345678901234567890123`, `-0.50e+10`, `true`, `null`, `"\u00e9\n"`, `""`})
	name = rapid.SampledFrom([]string{"model", "other", "a b", "tool2", "x.y", "Tool", "z", "env", "é"})
)

type jsonMaker struct {
	t    *rapid.T
	lax  bool // JSON5
	eol  string
	unit string
}

func nastyJSON(t *rapid.T) string {
	m := jsonMaker{
		t:    t,
		lax:  rapid.Bool().Draw(t, "lax"),
		eol:  rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"),
		unit: rapid.SampledFrom([]string{"", "  ", "\t", "    ", "   "}).Draw(t, "unit"),
	}
	if rapid.IntRange(0, 20).Draw(t, "empty") == 0 {
		return m.gap("")
	}
	return m.gap("") + m.object(0, true) + m.gap("")
}

// object may hold the tables that the entries of the tests belong in.
func (m jsonMaker) object(depth int, root bool) string {
	var members []string
	if root && rapid.Bool().Draw(m.t, "servers") {
		members = append(members, m.member("mcpServers", m.object(depth+1, false)))
	}
	if root && rapid.Bool().Draw(m.t, "hooks") {
		members = append(members, m.member("hooks", "{"+m.gap("")+m.member("start", m.list(depth+2))+m.gap("")+"}"))
	}
	for _, key := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(m.t, "names") {
		members = append(members, m.member(key, m.value(depth+1)))
	}
	if len(members) > 1 && rapid.Bool().Draw(m.t, "turn") {
		members[0], members[len(members)-1] = members[len(members)-1], members[0]
	}
	return m.join("{", members, "}", depth)
}

func (m jsonMaker) list(depth int) string {
	var items []string
	for range rapid.IntRange(0, 2).Draw(m.t, "items") {
		items = append(items, m.value(depth+1))
	}
	return m.join("[", items, "]", depth)
}

func (m jsonMaker) value(depth int) string {
	switch kind := rapid.IntRange(0, 5).Draw(m.t, "kind"); {
	case depth < 3 && kind == 0:
		return m.object(depth, false)
	case depth < 3 && kind == 1:
		return m.list(depth)
	case m.lax && kind == 2:
		return rapid.SampledFrom([]string{"0xFF", "+1", ".5", "NaN", "-Infinity", `'it "is"'`, `'don\'t'`, "'a\\\nb'"}).Draw(m.t, "json5")
	default:
		return scalar.Draw(m.t, "scalar")
	}
}

func (m jsonMaker) member(key, value string) string {
	written := quoteJSON(key)
	if m.lax && !strings.ContainsAny(key, " .") {
		written = rapid.SampledFrom([]string{key, "'" + key + "'", written}).Draw(m.t, "key")
	}
	return written + m.gap("") + ":" + m.gap(" ") + value
}

func (m jsonMaker) join(open string, children []string, closing string, depth int) string {
	spread := m.unit != "" && rapid.IntRange(0, 4).Draw(m.t, "spread") > 0
	inner, outer := m.gap(""), m.gap("")
	if spread {
		outer = m.eol + strings.Repeat(m.unit, depth)
		inner = outer + m.unit
	}
	comma := m.gap("") + ","
	if len(children) == 0 {
		return open + outer + closing
	}
	text := open + m.gap("") + inner + strings.Join(children, comma+m.gap("")+inner)
	if m.lax && rapid.Bool().Draw(m.t, "trailing") {
		text += comma
	}
	return text + m.gap("") + outer + closing
}

// gap is white space, and in JSON5 perhaps a comment.
func (m jsonMaker) gap(usual string) string {
	if !m.lax {
		return rapid.SampledFrom([]string{usual, usual, " ", "\t", m.eol}).Draw(m.t, "gap")
	}
	return rapid.SampledFrom([]string{usual, usual, usual, " ", "\t", m.eol, " /* { */ ", " // }, \"" + m.eol, "/*\n*/"}).Draw(m.t, "gap")
}

func nastyTOML(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"# comment [mcp_servers.tool]", "", "  ", "\t# tab", "%s = 1 # one", "%s = 'C:\\x'", "%s = \"\"\"\n[mcp_servers.tool]\n# no comment\n\"\"\"",
		"%s = [ 1,\n 2, # two\n]", "%s = 1979-05-27T07:32:00Z", "%s = 9223372036854775807", "  %s.deep.key = { x = 1 }", "[%s]", "[ mcp_servers . %s ] # spaced",
		"[[%s]]", "[mcp_servers.%s.env]", "%s = inf", "%s = nan",
	}), 0, 8).Draw(t, "lines")
	for i, line := range lines {
		if strings.Contains(line, "%s") {
			lines[i] = fmt.Sprintf(line, fmt.Sprintf("k%d", i)) // a key of its own, so that none stands twice
		}
	}
	return finish(t, lines)
}

func nastyYAML(t *rapid.T) string {
	indent := rapid.SampledFrom([]string{"  ", "    ", " "}).Draw(t, "indent")
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"# comment: x", "", "%s: 1   # spaced", "%s: \"a: b # c\"", "%s: |\n  text: x\n  mcp_servers:\n\n  more", "%s:\n- a\n-   b: c", "%s: {a: [1, 2], b: {}}",
		"%s: >-\n  folded\n  text", "'%s': 2024-01-01", "%s: &a%s [x]", "%s: 123456789012345678901", "%s: .nan", "%s:", "? %s\n: v", "%s: 'it''s'", "%s: \"é ∞\" # ∞",
	}), 0, 6).Draw(t, "lines")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "%s", fmt.Sprintf("k%d", i))
	}
	servers := rapid.SampledFrom([]string{
		"", "mcp_servers:", "mcp_servers: {}", "mcp_servers: {a: {command: x}}", "mcp_servers: # all\n>a: {command: x}\n\n># b\n>b:\n>>command: y",
		"mcp_servers:\n># first\n>'a':\n>>command: x",
	}).Draw(t, "servers")
	hooks := rapid.SampledFrom([]string{
		"", "hooks: {}", "hooks:\n>pre_llm_call: []", "hooks:\n>pre_llm_call:\n>- command: x\n>  timeout: 1\n># c\n>- command: y", "hooks:\n>pre_tool_call:\n>>- command: z",
		"hooks: {pre_llm_call: [{command: x}]}", "hooks:",
	}).Draw(t, "hooks")
	for _, block := range []string{servers, hooks} {
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		lines = append(lines[:at:at], append([]string{strings.ReplaceAll(block, ">", indent)}, lines[at:]...)...)
	}
	return finish(t, lines)
}

func nastyText(t *rapid.T) string {
	return finish(t, rapid.SliceOfN(rapid.SampledFrom([]string{
		"# Title", "", "text", "<!-- a comment -->", "```", "\ttab", "<!-- other:begin v1 -->\nx\n<!-- other:end -->", " <!-- tool:begin v1 -->",
	}), 0, 5).Filter(func(lines []string) bool { return strings.Count(strings.Join(lines, "\n"), "other:begin") < 2 }).Draw(t, "lines"))
}

// finish joins lines with one kind of line end, the last perhaps without.
func finish(t *rapid.T, lines []string) string {
	text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
	if rapid.Bool().Draw(t, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
