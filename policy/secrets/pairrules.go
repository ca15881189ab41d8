package secrets

import (
	"bytes"
	"maps"
	"slices"
	"sync"
)

// pairRules are values beside the name of a secret.
func pairRules() []*rule {
	return []*rule{
		{id: "named-value", about: "value beside a name such as password, secret or API key", context: true,
			names: nounStems, check: namedValue},
		{id: "foreign-name", about: "value beside the name of a secret in another language", context: true,
			names: slices.Sorted(maps.Keys(foreign())), check: foreignValue},
		{id: "seed-phrase", about: "words of a wallet", context: true, check: seedPhrase,
			names: list{"seed phrase", "seed_phrase", "seedphrase", "mnemonic", "recovery phrase", "secret phrase", "seed words", "recovery words", "wallet words", "助记词"}},
		{id: "twilio-pair", about: "Twilio account and token", literals: list{"AC"}, context: true, check: twilioPair},
	}
}

// foreign holds the foreign names as they are written and as fold leaves them.
var foreign = sync.OnceValue(func() map[string]strength {
	all := maps.Clone(foreignNames)
	for name, how := range foreignNames {
		if folded, ok := fold(view{text: []byte(name)}); ok {
			all[string(folded.text)] = how
		}
	}
	return all
})

// compounds end words that are written together: Datenbankpasswort.
var compounds = list{"passwort", "kennwort", "schlüssel", "wachtwoord", "lösenord"}

// foreignValue is the check behind names in other languages. Those in Latin
// letters must stand alone as words.
func foreignValue(text []byte, literal span) (match, bool) {
	name := string(lowerASCII(nil, literal.in(text)))
	if base62.at(text, literal.start) && (base62.at(text, literal.start-1) && !slices.Contains(compounds, name) || letters.at(text, literal.end)) {
		return match{}, false
	}
	how := foreign()[name]
	if m, ok := valueOf(text, literal, how); ok {
		return m, true
	}
	if base62.at(text, literal.start) || text[literal.end-1] == ' ' || literal.end == len(text) || text[literal.end] >= 0x80 {
		return match{}, false
	}
	at, op := readOperator(text, literal)
	if op != adjacent {
		return match{}, false
	}
	value := readValue(text, at)[0] // nothing but a blank is needed where words end by themselves
	return match{span: value}, isSecretValue(value.in(text), how, assigned) && !isBareHash(value.in(text)) && !isMention(value.in(text), how)
}

// seedPhrase takes 12 to 24 words of BIP 39's form, three to eight lower-case
// letters each, and nothing else up to the end of the line or the quotes.
func seedPhrase(text []byte, literal span) (match, bool) {
	at, op := readOperator(text, literal)
	if below := spaces.after(text, literal.end, 8); op != assigned && digits.at(text, below) {
		at, op = below, assigned // a numbered list
	}
	if value, ok := defaultValue(text, literal); ok {
		at, op = value, assigned
	}
	if op == noOperator {
		return match{}, false
	}
	bare := op == adjacent && !openers.at(text, at)
	start := blanks.after(text, openers.after(text, at, 4), 2)
	words, end, sentence := 0, start, false
	for at := start; words < 25; words++ {
		at = itemNumber(text, at)
		next := lower.after(text, at, 9)
		if next-at < 3 || next-at > 8 {
			break
		}
		sentence = sentence || (words < 12 || bare) && slices.Contains(functionWords, string(text[at:next]))
		end = next
		at = spaces.after(text, next, 4)
	}
	parted := blanks.at(text, end) && letters.at(text, blanks.after(text, end, 4))
	phrase := span{start, end}
	if bare && (sentence || parted || words%3 != 0 || !spaces.at(text, end) && end < len(text)) {
		return match{}, false // a sentence about phrases
	}
	if words >= 12 && !sentence {
		return match{span: phrase}, true // a sentence may go on behind them
	}
	return match{span: phrase}, !parted && words >= 12 && words%3 == 0 && words <= 24
}

// functionWords are no words of BIP 39, and hardly a sentence does without.
var functionWords = list{"the", "and", "are", "was", "were", "for", "not", "your", "from", "has", "have", "which", "must", "been", "but", "its", "our", "may", "should", "never"}

// itemNumber steps over the number of an item: "3. ", "3) ".
func itemNumber(text []byte, at int) int {
	end := digits.after(text, at, 2)
	if end == at || end >= len(text) || text[end] != '.' && text[end] != ')' && text[end] != ':' {
		return at
	}
	return blanks.after(text, end+1, 4)
}

// twilioPair takes an account id with 32 hexadecimal digits near it.
func twilioPair(text []byte, literal span) (match, bool) {
	id := lowerHex.after(text, literal.end, 33)
	if id-literal.end != 32 || base62.at(text, literal.start-1) {
		return match{}, false
	}
	around := span{max(0, literal.start-150), min(len(text), id+150)}
	for at := around.start; at < around.end; at++ {
		if at == literal.end || base62.at(text, at-1) {
			continue
		}
		end := lowerHex.after(text, at, 33)
		if end-at == 32 && !base62.at(text, end) && looksRandom(text[at:end]) && !bytes.Equal(text[at:end], text[literal.end:id]) {
			return match{span: span{at, end}}, true
		}
	}
	return match{}, false
}
