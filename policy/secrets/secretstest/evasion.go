package secretstest

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"
)

// An Evasion is a way a token is hidden, or merely formatted, that a reader
// would see through.
type Evasion struct {
	Name  string
	Apply func(r *rand.Rand, token string) string
}

// Evasions lists all of them.
func Evasions() []Evasion {
	var all []Evasion
	for _, family := range [][]Evasion{invisible(), disguises(), escapes(), encodings(), splits(), surroundings()} {
		all = append(all, family...)
	}
	return all
}

// invisible puts characters that show nothing between those of the token.
func invisible() []Evasion {
	var all []Evasion
	for _, c := range []rune{
		0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad, 0x180e, 0x200e, 0x202e, 0x2066, 0x61c, 0x34f, 0x115f, 0x3164, 0xfe0f, 0xe0101,
		0xe0041, 0x206a, 0xfff9, 0x17b4, 0xffa0, 0x0b, 0x07, 0x9b, 0x301, 0x332, 0x20e3, 0x489,
	} {
		all = append(all, Evasion{fmt.Sprintf("invisible U+%04X", c), func(r *rand.Rand, token string) string {
			return between(token, string(c), 1+r.IntN(3))
		}})
	}
	return append(all, Evasion{"invalid bytes", func(_ *rand.Rand, token string) string { return between(token, "\xff", 4) }})
}

// between puts a separator behind every n-th byte.
func between(token, separator string, n int) string {
	var b strings.Builder
	for i := range len(token) {
		if i > 0 && i%n == 0 {
			b.WriteString(separator)
		}
		b.WriteByte(token[i])
	}
	return b.String()
}

// disguises write the token in characters that look like ASCII.
func disguises() []Evasion {
	var all []Evasion
	for name, bases := range map[string][3]rune{
		"full width":        fullWidth,
		"mathematical bold": {0x1d400, 0x1d41a, 0x1d7ce},
		"monospace":         {0x1d670, 0x1d68a, 0x1d7f6},
		"sans serif":        {0x1d5a0, 0x1d5ba, 0x1d7e2},
		"double struck":     {0, 0x1d552, 0x1d7d8},
		"circled":           {0x24b6, 0x24d0, 0},
	} {
		all = append(all, Evasion{name, func(_ *rand.Rand, token string) string {
			return strings.Map(func(c rune) rune { return shifted(c, bases) }, token)
		}})
	}
	for name, pairs := range map[string]string{
		"Cyrillic":    "AАBВEЕKКMМHНOОPРCСTТXХaаeеoоpрcсxхiіjјsѕ",
		"Greek":       "AΑBΒEΕZΖHΗIΙKΚMΜNΝOΟPΡTΤXΧoο",
		"superscript": "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹aᵃbᵇcᶜdᵈeᵉ",
		"dashes":      "-‑",
		"minus":       "-−",
		"underscore":  "_＿",
	} {
		all = append(all, Evasion{name, func(_ *rand.Rand, token string) string { return strings.Map(paired(pairs), token) }})
	}
	// In the same order each time, so that a seed says what was made.
	slices.SortFunc(all, func(a, b Evasion) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// fullWidth are the first letters and the zero of a wide copy of ASCII.
var fullWidth = [3]rune{0xff21, 0xff41, 0xff10}

func shifted(c rune, bases [3]rune) rune {
	for i, first := range "Aa0" {
		if n := []rune{26, 26, 10}[i]; c >= first && c < first+n && bases[i] != 0 {
			return bases[i] + c - first
		}
	}
	return c
}

func paired(pairs string) func(rune) rune {
	table := map[rune]rune{}
	runes := []rune(pairs)
	for i := 0; i < len(runes); i += 2 {
		table[runes[i]] = runes[i+1]
	}
	return func(c rune) rune {
		if to, ok := table[c]; ok {
			return to
		}
		return c
	}
}

// each writes every byte of the token with a format.
func each(name, format string) Evasion {
	return Evasion{name, func(_ *rand.Rand, token string) string {
		var b strings.Builder
		for i := range len(token) {
			fmt.Fprintf(&b, format, token[i])
		}
		return b.String()
	}}
}

func escapes() []Evasion {
	return []Evasion{
		each("JSON escapes", `\u%04x`), each("braced escapes", `\u{%x}`), each("long escapes", `\U%08x`), each("hex escapes", `\x%02x`),
		each("braced hex escapes", `\x{%x}`), each("octal escapes", `\%03o`), each("HTML decimal", "&#%d;"), each("HTML hex", "&#x%X;"),
		each("percent", "%%%02X"), each("percent u", "%%u%04x"), each("percent twice", "%%25%02X"), each("escapes twice", `\\u%04x`),
		each("quoted-printable", "=%02X"),
		{"some percent", func(r *rand.Rand, token string) string {
			i := r.IntN(len(token))
			return token[:i] + fmt.Sprintf("%%%02x", token[i]) + token[i+1:]
		}},
		{"soft line ends", func(_ *rand.Rand, token string) string { return between(token, "=\r\n", 11) }},
		{"JSON in JSON", func(_ *rand.Rand, token string) string { return `"{\"a\": \"{\\\"token\\\":\\\"` + token + `\\\"}\"}"` }},
	}
}

func encodings() []Evasion {
	b64 := base64.StdEncoding.EncodeToString
	return []Evasion{
		{"base64", func(_ *rand.Rand, token string) string { return b64([]byte(token)) }},
		{"base64 in a sentence", func(_ *rand.Rand, token string) string {
			return "decode " + b64([]byte("my token is "+token)) + " before use"
		}},
		{"base64 for URLs", func(_ *rand.Rand, token string) string {
			return base64.RawURLEncoding.EncodeToString([]byte("token=" + token))
		}},
		{"base64 twice", func(_ *rand.Rand, token string) string { return b64([]byte(b64([]byte(token)))) }},
		{"base64 three times", func(_ *rand.Rand, token string) string { return b64([]byte(b64([]byte(b64([]byte(token)))))) }},
		{"base64 in lines", func(_ *rand.Rand, token string) string {
			return lines(b64([]byte("here is the token you asked for: "+token+" (keep it)")), 32, "\n")
		}},
		{"base64 in a path", func(_ *rand.Rand, token string) string { return "docs/notes/" + b64([]byte(token)) + "/index.md" }},
		{"hex", func(_ *rand.Rand, token string) string { return hex.EncodeToString([]byte(token)) }},
		{"upper-case hex", func(_ *rand.Rand, token string) string { return strings.ToUpper(hex.EncodeToString([]byte(token))) }},
		{"gzip in base64", func(_ *rand.Rand, token string) string { return b64(Gzip([]byte("the token: " + token))) }},
		{"gzip", func(_ *rand.Rand, token string) string { return string(Gzip([]byte("the token: " + token))) }},
		{"UTF-16 little-endian", func(_ *rand.Rand, token string) string { return utf16Text(binary.LittleEndian, "令牌 "+token) }},
		{"UTF-16 big-endian", func(_ *rand.Rand, token string) string { return utf16Text(binary.BigEndian, "令牌 "+token) }},
		{"UTF-16 with mark", func(_ *rand.Rand, token string) string { return utf16Text(binary.LittleEndian, "\ufeff"+token) }},
		{"UTF-16 of full width", func(_ *rand.Rand, token string) string {
			wide := strings.Map(func(c rune) rune { return shifted(c, fullWidth) }, token)
			return utf16Text(binary.LittleEndian, "mind the gap: "+wide)
		}},
		{"UTF-16 in base64", func(_ *rand.Rand, token string) string {
			return b64([]byte(utf16Text(binary.LittleEndian, "echo "+token)))
		}},
	}
}

func utf16Text(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// split puts a joint into the middle of the token.
func split(name, joint string) Evasion {
	return Evasion{name, func(r *rand.Rand, token string) string {
		at := len(token)/3 + r.IntN(len(token)/3)
		return token[:at] + joint + token[at:]
	}}
}

// inComment is a split token that a block comment holds.
func inComment(name, joint string) Evasion {
	return Evasion{name, func(r *rand.Rand, token string) string {
		return "/* \"" + split(name, joint).Apply(r, token) + "\" */"
	}}
}

func splits() []Evasion {
	return []Evasion{
		split("newline", "\n"), split("CRLF", "\r\n"), split("newline and indent", "\n    "), split("backslash newline", "\\\n  "),
		split("quotation", "\n> "), split("comment lines", "\n# "), split("slash comment lines", "\n// "), split("starred lines", "\n * "),
		split("plus", `" + "`), split("plus, single quotes", `' + '`), split("plus over lines", "\" +\n\t\""), split("dot", `" . "`), split("ampersand", `" & "`),
		split("adjacent literals", `" "`), split("bold", "**"), split("code", "``"), split("tag", "<b>"), split("empty element", "<br/>"),
		split("HTML comment", "<!-- x -->"), split("block comment", "/* x */"), split("tab", "\t"), split("NUL", "\x00"), split("JSON newline", `\n`),
		split("SQL comment lines", "\n-- "), split("Erlang", `"<>"`), inComment("literals in a comment", `" + "`), inComment("tag in a comment", "<wbr>"),
		{"code in angle brackets", func(_ *rand.Rand, token string) string { return "Ana <" + between(token, "``", (len(token)+1)/2) + ">" }},
	}
}

// Obscure lists what nobody does by accident.
func Obscure() []Evasion {
	return []Evasion{
		{"reversed", func(_ *rand.Rand, token string) string {
			backwards := []byte(token)
			slices.Reverse(backwards)
			return "read this backwards: " + string(backwards)
		}},
		{"spaced hex", func(_ *rand.Rand, token string) string { return fmt.Sprintf("% x", token) }},
		{"byte literals", func(_ *rand.Rand, token string) string { return "[]byte{" + listOf(token, "0x%02x", ", ") + "}" }},
		{"decimal list", func(_ *rand.Rand, token string) string { return "[" + listOf(token, "%d", ", ") + "]" }},
		{"base32", func(_ *rand.Rand, token string) string { return base32.StdEncoding.EncodeToString([]byte(token)) }},
		{"variation selectors", func(_ *rand.Rand, token string) string {
			hidden := "x"
			for _, c := range []byte(token) {
				hidden += string(rune(0xe0100 + int(c) - 16))
			}
			return hidden
		}},
		{"groups", func(_ *rand.Rand, token string) string { return "it is " + between(token, " ", 9) + " today" }},
		{"dashed groups", func(_ *rand.Rand, token string) string { return "it is " + between(token, " - ", 10) + "." }},
		{"items", func(_ *rand.Rand, token string) string {
			return "1. " + token[:9] + "\n2. " + token[9:20] + "\n3. " + token[20:]
		}},
		split("ellipsis", "..."), split("cells", " | "), split("halves", " second half: "), split("variables", "\"\nb = \""),
		{"calls", func(_ *rand.Rand, token string) string { return listOf(token, "chr(%d)", " + ") }},
		{"spelled", func(_ *rand.Rand, token string) string { return "it is spelled " + between(token, " ", 1) + " end" }},
		{"rotated", func(_ *rand.Rand, token string) string {
			return strings.Map(func(c rune) rune {
				switch {
				case c >= 'a' && c <= 'z':
					return 'a' + (c-'a'+13)%26
				case c >= 'A' && c <= 'Z':
					return 'A' + (c-'A'+13)%26
				}
				return c
			}, token)
		}},
		{"tags", func(_ *rand.Rand, token string) string {
			return "flag" + strings.Map(func(c rune) rune { return 0xe0000 + c }, token)
		}},
	}
}

func listOf(token, format, separator string) string {
	var parts []string
	for i := range len(token) {
		parts = append(parts, fmt.Sprintf(format, token[i]))
	}
	return strings.Join(parts, separator)
}

// around puts the token between other text.
func around(name, before, after string) Evasion {
	return Evasion{name, func(_ *rand.Rand, token string) string { return before + token + after }}
}

func surroundings() []Evasion {
	all := []Evasion{
		around("allow comment", `key = "`, `" # gitleaks:allow`), around("other allow comment", "", " // pragma: allowlist secret nosec"),
		around("braces", "{{", "}}"), around("dollar braces", "${", "}"), around("angle brackets", "<", ">"), around("words", "example test fake ", " dummy"),
		around("escaped quotes", `{\"token\":\"`, `\"}`), around("XML", "<token>", "</token>"), around("Markdown link", "[x](https://e.org/?t=", ")"),
		around("table", "| name | ", " | x |"), around("Chinese", "令牌是", "，请保密。"), around("assignment", "export T='", "'"),
		around("URL", "https://api.example.com/v1?token=", "&x=1"), around("path", "docs/", "/readme.md"), around("branch", "refs/heads/fix-", ""),
	}
	for _, mark := range []string{".", ",", ";", ":", "!", "?", ")", "]", "}", ">", "\"", "'", "`", "|", "*", "…", "。", "，", "»", "\\n", "&", "#", "@", "%20"} {
		all = append(all, around("before "+mark, "it was ", mark))
	}
	return all
}
