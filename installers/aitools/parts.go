package aitools

import (
	_ "embed"
	"path"
	"strings"

	"cairn/installers/aitools/splice"
)

// protocol says when to recall and when to remember. Every tool gets the same words.
//
//go:embed protocol.md
var protocol string

// Protocol is the text that every tool is given, for a person who has to paste it.
func Protocol() string { return protocol }

// serverMap is what most tools want to know of a server.
func serverMap(env Env, id string) splice.Map {
	return splice.Map{
		{Key: "command", Value: env.Binary},
		{Key: "args", Value: serverArgs(env, id)},
	}
}

func serverArgs(env Env, id string) []any {
	args := []any{"mcp"}
	if env.namesHome() {
		args = append(args, "--home", env.CairnHome)
	}
	return append(args, "--client", id)
}

// isServer recognizes a server entry of ours, also from another version or place of the program.
func isServer(env Env) func(any) bool {
	return func(v any) bool {
		table, _ := v.(map[string]any)
		command, _ := table["command"].(string)
		args, _ := table["args"].([]any)
		program := programName(command)
		return len(args) > 0 && args[0] == any("mcp") && (program == "cairn" || program == programName(env.Binary))
	}
}

func programName(command string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(command, `\`, "/")), ".exe")
}

// hookCommand is the line that a tool runs at the start of a session.
func hookCommand(env Env, id string) string {
	program := shellWord(env.GOOS, env.Binary)
	if env.namesHome() {
		program += " --home " + shellWord(env.GOOS, env.CairnHome)
	}
	return program + hookArgs(id)
}

func hookArgs(id string) string { return " hook session-start --client " + id }

// isHook recognizes a hook of ours wherever in the value its command stands.
func isHook(id string) func(any) bool {
	var is func(any) bool
	is = func(v any) bool {
		switch v := v.(type) {
		case string:
			return strings.HasSuffix(v, hookArgs(id))
		case []any:
			return len(v) == 1 && is(v[0]) // with others beside it, the list is not ours alone
		case map[string]any:
			for _, value := range v {
				if is(value) {
					return true
				}
			}
		}
		return false
	}
	return is
}

// shellWord makes one word of a path for the shell of the system. On Windows forward slashes are understood by every shell
// that a tool may use there, and backslashes are not.
func shellWord(goos, p string) string {
	if goos == "windows" {
		return `"` + strings.ReplaceAll(p, `\`, "/") + `"`
	}
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("/._-+@%:=,", r)
	}
	if !strings.ContainsFunc(p, func(r rune) bool { return !plain(r) }) {
		return p
	}
	return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
}

// instructionBlock is the protocol as a block in a Markdown file of the tool's user.
func instructionBlock(file string) Part {
	return Part{Role: Instructions, Path: file, Perm: textPerm, Entry: splice.Entry{
		Format: splice.Fenced, Path: []string{"cairn"}, Value: strings.TrimRight(protocol, "\n"),
	}}
}

// jsonServer is a server entry in a JSON file.
func jsonServer(env Env, file string, value splice.Map, keys ...string) Part {
	return Part{Role: Server, Path: file, Perm: configPerm, Entry: splice.Entry{
		Format: splice.JSON, Path: append(keys, "cairn"), Value: value, Ours: isServer(env),
	}}
}

// jsonHook is a hook in a list of a JSON file.
func jsonHook(id, file string, value splice.Map, keys ...string) Part {
	return Part{Role: Hook, Path: file, Perm: configPerm, Entry: splice.Entry{
		Format: splice.JSON, Path: keys, Item: true, Value: value, Ours: isHook(id),
	}}
}

// commandHook is the form of a hook that Claude Code brought up and others took over.
func commandHook(env Env, id string) splice.Map {
	return splice.Map{{Key: "hooks", Value: []any{splice.Map{
		{Key: "type", Value: "command"},
		{Key: "command", Value: hookCommand(env, id)},
		{Key: "timeout", Value: hookSeconds},
	}}}}
}

// hookSeconds is how long a tool waits for the hook at most. The hook itself answers in a fraction of a second.
const hookSeconds = 10
