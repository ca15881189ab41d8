package splice

// A Format is the syntax of a file.
type Format int

// The formats.
const (
	JSON   Format = iota // JSON, JSON with comments, JSON5
	TOML                 // TOML 1.0
	YAML                 // YAML, one document
	Fenced               // text in which an entry stands between two marker lines
)

// An Entry is what should stand in a file, and where.
type Entry struct {
	Format Format

	// Path leads from the root to the entry: the keys of nested tables, the last of them the entry's own. Tables that are
	// missing on the way are made. In Fenced text it is the name in the markers, alone.
	Path []string

	// Item says that Path leads to a list, and that Value is one item of it.
	Item bool

	// Value is what the entry says: a Map, a []any, a string, an int or a bool. In Fenced text it is a string, the lines
	// between the markers.
	Value any

	// Ours tells from a decoded value (map[string]any, []any, string, and so on) whether what stands at the entry's place
	// was put there for the same purpose, perhaps with another content. Nil says that everything at that place is.
	Ours func(any) bool
}

// A Map is a table whose keys keep their order.
type Map []Pair

// A Pair is one key of a Map with its value.
type Pair struct {
	Key   string
	Value any
}

// A State is what a text says about an entry.
type State int

// The states, with what they call for.
const (
	Absent   State = iota // nothing of that name: insert
	Current               // it says what the entry says, perhaps more: leave it
	Outdated              // ours, with another content: cut, then insert
	Edited                // ours, with another content and with keys that the entry lacks: somebody extended it by hand
	Foreign               // something of that name that is not ours: keep away
)

// An Edit replaces Cut bytes at offset At by Put.
type Edit struct {
	At  int
	Cut int
	Put string
}

// Apply returns a copy of text with the edit done.
func (e Edit) Apply(text []byte) []byte {
	out := make([]byte, 0, len(text)-e.Cut+len(e.Put))
	out = append(out, text[:e.At]...)
	out = append(out, e.Put...)
	return append(out, text[e.At+e.Cut:]...)
}

// A syntax is one format: how it is read and where things go in it. What it proposes is checked by its caller.
type syntax interface {
	// decode reads a whole text into map[string]any, []any, string, bool, nil and numbers of any kind. A text without
	// content is an empty map.
	decode(text []byte) (any, error)
	// insert proposes where an entry goes that is not in text.
	insert(text []byte, e Entry) (Edit, error)
	// cut proposes how an entry that is in text comes out, or one of the items if there are several. The edits are applied in
	// order, each to the result of the one before.
	cut(text []byte, e Entry) ([]Edit, error)
	// show renders the entry as a person would paste it into an empty file.
	show(e Entry) string
}

func (f Format) syntax() syntax {
	switch f {
	case TOML:
		return tomlSyntax{}
	case YAML:
		return yamlSyntax{}
	case Fenced:
		return fencedSyntax{}
	default:
		return jsonSyntax{}
	}
}
