package secrets

import "bytes"

// A manifest is read this far around the line that says what it is; its data
// may stand before that line or behind it.
const manifestReach = 6000

// kubernetesSecret takes the first value under data or stringData of a
// manifest of kind Secret that is no template and no name of something.
func kubernetesSecret(text []byte, literal span) (match, bool) {
	if bytes.Contains(text[max(0, literal.start-100):literal.start], literal.in(text)) {
		return match{}, false // the one before has read this document
	}
	from := max(0, literal.start-manifestReach)
	manifest := text[from:min(len(text), literal.end+manifestReach)]
	manifest, cut := oneDocument(manifest, literal.start-from)
	from += cut
	for _, section := range []string{"data", "stringData"} {
		at := sectionStart(manifest, section)
		if at < 0 {
			continue
		}
		if v, ok := firstSecret(manifest, at, section == "data"); ok {
			return match{span: span{from + v.start, from + v.end}}, true
		}
	}
	return match{}, false
}

// sectionStart is where the members of a section begin; "metadata" is none of
// "data".
func sectionStart(manifest []byte, section string) int {
	for at := 0; ; {
		next := bytes.Index(manifest[at:], []byte(section))
		if next < 0 {
			return -1
		}
		start := at + next
		at = start + len(section)
		end := closers.after(manifest, at, 1)
		if !wordChars.at(manifest, start-1) && end < len(manifest) && manifest[end] == ':' {
			return end + 1
		}
	}
}

// oneDocument keeps the document of a YAML stream that holds position at, and
// says how much was cut before it.
func oneDocument(stream []byte, at int) (document []byte, cut int) {
	divider := []byte("\n---")
	if i := bytes.LastIndex(stream[:at], divider); i >= 0 {
		cut = i + len(divider)
	}
	document = stream[cut:]
	if i := bytes.Index(document, divider); i >= 0 {
		document = document[:i]
	}
	return document, cut
}

var (
	manifestKey = alphabetOf(numerals + lowers + uppers + "_-.\"")
	memberStart = alphabetOf(" \t\r\n{,")
)

// firstSecret reads "name: value" members from a position on, until a line
// that is no member.
func firstSecret(manifest []byte, at int, encoded bool) (span, bool) {
	for range 64 {
		at = memberStart.after(manifest, at, 200)
		end := manifestKey.after(manifest, at, 120)
		if end == at || end >= len(manifest) || manifest[end] != ':' {
			return span{}, false
		}
		name := bytes.Trim(manifest[at:end], `"`)
		value := readValue(manifest, toValue(manifest, end+1))[0]
		if isManifestSecret(name, value.in(manifest), encoded) {
			return value, true
		}
		at = value.end
		for at < len(manifest) && manifest[at] != '\n' && manifest[at] != ',' {
			at++
		}
	}
	return span{}, false
}

func isManifestSecret(name, value []byte, encoded bool) bool {
	if isReference(value) {
		return false
	}
	if encoded {
		value = base64Text(value)
		if len(value) < 6 {
			return false
		}
		if !isPrintable(value) {
			return len(value) >= 8
		}
	}
	if !isGiven(value) || bytes.Contains(value, []byte("{{")) {
		return false
	}
	words := splitName(name)
	if rate(words, "") >= strongName && !joinsWords(value) {
		return len(value) >= 6
	}
	return looksChosen(value)
}
