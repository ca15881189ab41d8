package secrets

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
)

// keyRules are private keys: in PEM and its relatives, and those of formats of
// their own.
func keyRules() []*rule {
	word := "PRIVATE" + " KEY" // apart, or scanners stumble over this line
	rules := []*rule{
		{id: "private-key", about: "private key in PEM form", block: true, literals: list{word + "-----", word + " -----", word + " ----", "OpenVPN Static key V1-----"}, check: pemKey},
		{id: "pgp-private", about: "OpenPGP private key block", block: true, literals: list{word + " BLOCK-----"}, check: pemKey},
		{id: "putty-ppk", about: "PuTTY private key", block: true, literals: list{"Private-Lines:"}, check: puttyKey},
		{id: "jwk-private", about: "private JSON web key", literals: list{`"d"`, `"k"`}, check: jwkKey},
		{id: "jwt", about: "signed JSON web token", literals: list{"eyJ"}, check: jsonWebToken},
	}
	return append(rules, tokenRules([]tokenRow{
		{"age-key", "age identity", list{"AGE-SECRET-KEY-1", "age-secret-key-1"}, token{tail: parts{bech32.n(58)}, sum: bech32Sum}},
		{"nats-nkey", "NATS seed", list{"SU", "SA", "SO", "SN", "SC", "SX"}, token{tail: parts{base32std.n(56)}, edge: closed, sum: crcNKey}},
		{"wallet-key", "extended private key of a wallet", list{"xprv", "yprv", "zprv", "tprv"}, token{tail: parts{base58.from(105, 108)}, edge: closed}},
		{"bitcoin-wif", "Bitcoin private key", list{"5H", "5J", "5K", "Kw", "Kx", "Ky", "Kz", "L1", "L2", "L3", "L4", "L5"},
			token{tail: parts{base58.from(49, 50)}, edge: closed, hold: wifSum, sum: wifSum}},
	})...)
}

// minKeyBody is how much of a key must follow its title line: a title alone,
// or one above "...", is talk about keys.
const minKeyBody = 40

var titleChars = alphabetOf(uppers + numerals + " -")

func pemKey(text []byte, literal span) (match, bool) {
	start := titleChars.before(text, literal.start, 60)
	if !bytes.Contains(text[start:literal.start], []byte("BEGIN")) {
		return match{}, false
	}
	body, end := keyBody(text, literal.end)
	if len(body) < minKeyBody || isFiller(body) || wordShare(body) > 0.5 || !holdsLongRun(text[literal.end:end]) {
		return match{}, false
	}
	return match{span: span{start, end}}, true
}

// minKeyLine is longer than the words of a sentence about a key.
const minKeyLine = 16

func holdsLongRun(text []byte) bool {
	for i := 0; i < len(text); i++ {
		end := base64std.after(text, i, minKeyLine)
		if end-i == minKeyLine {
			return true
		}
		i = end
	}
	return false
}

func puttyKey(text []byte, literal span) (match, bool) {
	body, end := keyBody(text, literal.end)
	if len(body) < minKeyBody || isFiller(body) {
		return match{}, false
	}
	return match{span: span{literal.start, end}}, true
}

var keySeparators = alphabetOf(" \t\r\n\"'`,+>|#*=()")

// keyBody collects the base 64 behind the title of a key, whatever parts its
// lines: escapes, quotes, indents. Header lines ("DEK-Info: …") are left out.
func keyBody(text []byte, from int) (body []byte, end int) {
	limit := min(len(text), from+2000)
	for i := from; i < limit && len(body) < 4*minKeyBody; i++ {
		switch c := text[i]; {
		case base64std[c]:
			body = append(body, c)
			end = i + 1
		case c == ':' && len(body) >= minKeyBody:
			return body, end // the name of what follows the key
		case c == ':':
			body = body[:0]
			i = headerEnd(text, i, limit)
		case c == '\\' && i+1 < limit:
			i++
		case c == '-' && i+1 < limit && text[i+1] != '-': // in the name of a header
		case !keySeparators[c]:
			return body, end
		}
	}
	return body, end
}

// headerEnd is the last byte of a line that ends at a newline or at one that
// is written as an escape.
func headerEnd(text []byte, i, limit int) int {
	for ; i < limit; i++ {
		if text[i] == '\n' || text[i] == '\\' {
			return i
		}
	}
	return limit
}

// jwkKey takes "d" (or "k" of a symmetric key) in an object that says which
// type of key it is.
func jwkKey(text []byte, literal span) (match, bool) {
	at := spaces.after(text, literal.end, 20)
	if !bytes.HasPrefix(text[at:], []byte(":")) {
		return match{}, false
	}
	at = spaces.after(text, at+1, 20)
	if !bytes.HasPrefix(text[at:], []byte(`"`)) {
		return match{}, false
	}
	end := base64url.after(text, at+1, 2000)
	object := text[max(0, literal.start-3000):min(len(text), end+3000)]
	if end-at-1 < 22 || !bytes.Contains(object, []byte(`"kty"`)) || !looksRandom(text[at+1:end]) {
		return match{}, false
	}
	if text[literal.start+1] == 'k' && !bytes.Contains(object, []byte(`"oct"`)) {
		return match{}, false
	}
	return match{span: span{at + 1, end}}, true
}

// Lengths of the parts of a token that are looked at.
const (
	maxTokenHeader  = 1 << 10
	maxTokenPayload = 20 << 10
	maxTokenSum     = 1 << 10
)

// jsonWebToken takes three parts whose first is a JSON header with an
// algorithm (RFC 7519).
func jsonWebToken(text []byte, literal span) (match, bool) {
	header := span{literal.start, base64url.after(text, literal.end, maxTokenHeader)}
	payload, ok := nextPart(text, header, maxTokenPayload)
	if !ok {
		return match{}, false
	}
	signature, ok := nextPart(text, payload, maxTokenSum)
	if !ok || signature.end-signature.start < 20 || entropy(signature.in(text)) < 3.5 {
		return match{}, false
	}
	plain, err := base64.RawURLEncoding.DecodeString(string(header.in(text)))
	if err != nil || !bytes.Contains(plain, []byte(`"alg"`)) || isPublicToken(payload.in(text)) {
		return match{}, false
	}
	return match{span: span{header.start, signature.end}}, true
}

func nextPart(text []byte, before span, limit int) (span, bool) {
	if before.end >= len(text) || text[before.end] != '.' {
		return span{}, false
	}
	return span{before.end + 1, base64url.after(text, before.end+1, limit)}, true
}

var anonymousRole = regexp.MustCompile(`"role"\s*:\s*"anon"`)

// isPublicToken reports tokens that are made to stand in web pages:
// Supabase's of the role anon.
func isPublicToken(payload []byte) bool {
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(string(payload), "="))
	return err == nil && anonymousRole.Match(plain)
}
