package secrets

// Without is a scanner that leaves out one kind of view.
func Without(kind string) *Scanner {
	e := *builtIn()
	e.without = map[string]viewKind{
		"UTF-16": asUTF16, "tags": asTags, "selectors": asSelectors, "folded": asFolded, "unescaped": asUnescaped, "unquoted": asUnquoted,
		"quoted-printable": asQuotedPrintable, "numbers": asNumbers, "reversed": asReversed, "rotated": asRotated, "spelled": asSpelled, "pieces": asPieced, "joined": asJoined, "decoded": asDecoded, "inflated": asInflated,
	}[kind]
	return &Scanner{engine: &e}
}

// NounsWithoutStem lists the nouns that the finder would overlook.
func NounsWithoutStem() []string {
	var lost []string
	for noun := range nouns {
		if !containsAny([]byte(noun), nounStems) {
			lost = append(lost, noun)
		}
	}
	return lost
}

// Compile does once more what the first New does.
func Compile() {
	if _, err := compile(builtInRules()); err != nil {
		panic(err)
	}
}

// ScanOrPanic is Scan that lets a panic of a rule or a view through.
func (s *Scanner) ScanOrPanic(text []byte) []Finding { return s.readAll(text) }
