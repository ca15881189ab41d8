package secrets

import "bytes"

// A nearby rule takes a value of a fixed form, which many things have, when
// the name of its provider stands shortly before it and a word that speaks of
// keys stands around.
type nearby struct {
	value parts
	hold  func(value []byte) bool
	words []string // one of these must be near; nil means keyWords
}

var keyWords = []string{"key", "token", "secret", "password", "credential", "auth", "pat", "pw", "密", "令牌", "ключ", "токен"}

// digestWords right before a value say that it is something else.
var digestWords = []string{"commit", "sha1", "sha256", "digest", "checksum", "public", "fingerprint", "revision", "etag", "md5", "trace", "image"}

// How far around a provider's name is read.
const (
	nearBefore = 40
	nearBehind = 140
)

func (n nearby) check(text []byte, provider span) (match, bool) {
	if !startsWord(text, provider) {
		return match{}, false
	}
	end := min(len(text), provider.end+nearBehind)
	for at := provider.end; at < end; at++ {
		value, ok := n.valueAt(text, at)
		if !ok {
			continue
		}
		around := lowerASCII(nil, text[max(0, provider.start-nearBefore):value.start])
		just := around[max(0, len(around)-12):]
		return match{span: value}, containsAny(around, n.keyWords()) && !containsAny(just, digestWords)
	}
	return match{}, false
}

func (n nearby) keyWords() []string {
	if n.words == nil {
		return keyWords
	}
	return n.words
}

// startsWord reports a name that no other word runs into: "dd-" is not that of
// a provider in "add-require".
func startsWord(text []byte, name span) bool {
	if !letters.at(text, name.start-1) || !letters.at(text, name.start) || bytes.HasSuffix(text[:name.start], []byte("-D")) {
		return true
	}
	return upper[text[name.start]] && lower[text[name.start-1]]
}

// valueAt is the value that begins at exactly this place and ends where its
// characters end.
func (n nearby) valueAt(text []byte, at int) (span, bool) {
	if first := n.value[0].in; base62.at(text, at-1) || first != nil && (first.at(text, at-1) || !first.at(text, at)) {
		return span{}, false
	}
	end := at
	for _, p := range n.value {
		var ok bool
		if end, ok = p.after(text, end); !ok {
			return span{}, false
		}
	}
	value := text[at:end]
	if last := n.value[len(n.value)-1].in; last != nil && last.at(text, end) || base62.at(text, end) || !looksRandom(value) || n.hold != nil && !n.hold(value) {
		return span{}, false
	}
	return span{at, end}, true
}

func containsAny(text []byte, words []string) bool {
	for _, w := range words {
		if bytes.Contains(text, []byte(w)) {
			return true
		}
	}
	return false
}

// A nearbyRow is one line in the table of nearby rules.
type nearbyRow struct {
	id, about string
	providers []string
	nearby
}

func nearbyRules(rows []nearbyRow) []*rule {
	var rules []*rule
	for _, row := range rows {
		rules = append(rules, &rule{id: row.id, about: row.about, context: true, names: row.providers, check: row.check})
	}
	return rules
}
