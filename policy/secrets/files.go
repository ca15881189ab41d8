package secrets

import "bytes"

// fileRules are logins in the files that tools keep them in.
func fileRules() []*rule {
	return []*rule{
		{id: "netrc", about: "login in .netrc", names: list{"machine "}, check: netrcLogin},
		{id: "pgpass", about: "login in .pgpass", literals: list{":5432:", ":5433:", ":6432:", ":*:"}, check: pgpassLogin},
		{id: "npmrc", about: "login in .npmrc", names: list{"_authtoken", "_auth", "_password"}, check: npmrcLogin},
		{id: "docker-config", about: "login in a Docker configuration", literals: list{`"auth"`}, check: dockerLogin},
		{id: "kubeconfig-token", about: "token in a kubeconfig", names: list{"users:"}, check: kubeconfigToken},
		{id: "k8s-secret", about: "data of a Kubernetes Secret", literals: list{"kind: Secret", `kind": "Secret"`, `kind":"Secret"`}, check: kubernetesSecret},
	}
}

// netrcLogin takes "machine HOST login USER password PASSWORD".
func netrcLogin(text []byte, literal span) (match, bool) {
	entry := text[literal.end:min(len(text), literal.end+400)]
	if !bytes.Contains(entry, []byte("login")) {
		return match{}, false
	}
	word := []byte("password")
	at := bytes.Index(entry, word)
	if at < 0 || !blanks.at(entry, at+len(word)) {
		return match{}, false
	}
	start := blanks.after(text, literal.end+at+len(word), 8)
	end := start
	for end < len(text) && !valueEnd[text[end]] && text[end] != '\\' {
		end++
	}
	value := text[start:end]
	return match{span: span{start, end}}, len(value) >= 6 && isGiven(value) && !isPlainWord(value)
}

// isPlainWord reports what stands in a sentence about such a file.
func isPlainWord(value []byte) bool { return letters.holdsAll(value) && isWord(value) }

var hostChars = alphabetOf(numerals + lowers + uppers + ".-*")

// pgpassLogin takes "host:port:database:user:password", a line of its own.
func pgpassLogin(text []byte, literal span) (match, bool) {
	host := hostChars.before(text, literal.start, 100)
	if host == literal.start || wordChars.at(text, host-1) || host > 0 && bytes.IndexByte([]byte(":/@$"), text[host-1]) >= 0 {
		return match{}, false
	}
	end := literal.end
	for end < len(text) && end-literal.end < 200 && !valueEnd[text[end]] && text[end] < 0x80 {
		end++
	}
	fields := bytes.SplitN(text[literal.end:end], []byte(":"), 3)
	if len(fields) < 3 {
		return match{}, false
	}
	value := fields[2]
	return match{span: span{end - len(value), end}}, len(value) >= 6 && isGiven(value)
}

// npmrcLogin takes _authToken=…, also the UUIDs that old ones are.
func npmrcLogin(text []byte, literal span) (match, bool) {
	i := closers.after(text, literal.end, 2)
	i = blanks.after(text, i, 4)
	if i >= len(text) || text[i] != '=' && text[i] != ':' {
		return match{}, false
	}
	start := openers.after(text, blanks.after(text, i+1, 4), 4)
	end := base64any.after(text, start, 300)
	value := text[start:end]
	return match{span: span{start, end}}, len(value) >= 12 && (digits.count(value) > 0 || switchesCase(value)) && looksRandom(value)
}

// kubeconfigToken takes the token of a user, which may look like any digest.
func kubeconfigToken(text []byte, literal span) (match, bool) {
	entry := text[literal.end:min(len(text), literal.end+3*maxLine)]
	user := bytes.Index(entry, []byte("user:"))
	at := bytes.Index(entry, []byte(" token: "))
	if user < 0 || at < user || !bytes.Contains(entry[:user], []byte("- name:")) {
		return match{}, false
	}
	v := readValue(text, literal.end+at+len(" token: "))[0]
	value := v.in(text)
	return match{span: v}, len(value) >= 16 && looksChosen(value) && !isReference(value)
}

// dockerLogin takes "auth": base 64 of user:password.
func dockerLogin(text []byte, literal span) (match, bool) {
	i := spaces.after(text, literal.end, 8)
	if i >= len(text) || text[i] != ':' {
		return match{}, false
	}
	i = spaces.after(text, i+1, 8)
	if i >= len(text) || text[i] != '"' {
		return match{}, false
	}
	end := base64any.after(text, i+1, 2000)
	_, password, ok := decodeLogin(text[i+1 : end])
	return match{span: span{i + 1, end}}, ok && isGiven(password)
}
