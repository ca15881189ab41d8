package secrets

import "bytes"

// commandRules are passwords in the commands and settings of servers and
// devices that give them no sign of their own.
func commandRules() []*rule {
	return []*rule{
		{id: "crypt-hash", about: "hash of a password as crypt keeps it", check: cryptHash,
			literals: list{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$"}},
		{id: "mysql-dsn", about: "password in a MySQL data source name of Go", literals: list{"@tcp(", "@unix("}, check: mysqlSource},
		{id: "spoken-password", about: "password behind a word of a device or a script", context: true, check: plainWord,
			names: list{"rootpw --plaintext ", "password 0 ", "secret 0 ", "convertto-securestring "}},
		{id: "account-command", about: "password in a command that sets up an account", context: true, check: lastField,
			names: list{"mc alias set ", "mc config host add ", "net use "}},
		{id: "chpasswd", about: "user and password for chpasswd", context: true, names: list{"chpasswd"}, check: chpasswdList},
		{id: "redis-acl", about: "password in an access list of Redis", context: true, literals: list{" on >"}, check: aclPassword},
		{id: "terraform-default", about: "default of a Terraform variable for a secret", context: true, names: list{`variable "`}, check: variableDefault},
	}
}

var (
	cryptChars = alphabetOf(numerals + lowers + uppers + "./$=,")
	cryptSizes = map[string]int{"$1$": 22, "$5$": 43, "$6$": 86, "$y$": 43, "$apr1$": 22}
)

// cryptHash takes $id$salt$hash: see crypt(5) for how long the last part is.
func cryptHash(text []byte, literal span) (match, bool) {
	end := cryptChars.after(text, literal.end, 160)
	body := bytes.TrimRight(text[literal.end:end], ".,")
	last := body[bytes.LastIndexByte(body, '$')+1:]
	size, ok := cryptSizes[string(literal.in(text))]
	if !ok {
		size = 53 // bcrypt: salt and hash in one part
	}
	m := match{span: span{literal.start, literal.end + len(body)}}
	return m, len(last) < len(body) && (len(last) == size || len(last) == size-1) && looksRandom(last)
}

// mysqlSource takes user:password@tcp(host).
func mysqlSource(text []byte, literal span) (match, bool) {
	start := literal.start
	for start > 0 && literal.start-start < 200 && !valueEnd[text[start-1]] {
		start--
	}
	login := text[start:literal.start]
	colon := bytes.IndexByte(login, ':')
	if colon < 1 {
		return match{}, false
	}
	host := text[literal.end:min(len(text), literal.end+100)]
	return match{span: span{start + colon + 1, literal.start}}, isLogin(login[:colon], login[colon+1:], host)
}

// plainWord takes the word right behind the literal.
func plainWord(text []byte, literal span) (match, bool) {
	return chosenAt(text, blanks.after(text, literal.end, 4))
}

func chosenAt(text []byte, at int) (match, bool) {
	for _, v := range readValue(text, at) {
		if isSecretValue(v.in(text), passwordName, assigned) {
			return match{span: v}, true
		}
	}
	return match{}, false
}

// lastField takes the first word behind the address that such a command names
// (\\host\share or https://host) that is a password.
func lastField(text []byte, literal span) (match, bool) {
	line := lineAfter(text, literal.end, maxLine)
	at := max(bytes.Index(line, []byte("://")), bytes.Index(line, []byte(`\\`)))
	if at < 0 {
		return match{}, false
	}
	best, ok := match{}, false
	for at++; at < len(line); at++ {
		if line[at-1] != ' ' || line[at] == ' ' || line[at] == '/' || line[at] == '-' {
			continue
		}
		if m, found := chosenAt(text, literal.end+at); found {
			best, ok = m, true
		}
	}
	return best, ok
}

// chpasswdList takes user:password beside the name, in the lines behind it or
// piped into it.
func chpasswdList(text []byte, literal span) (match, bool) {
	from, to := max(0, literal.start-120), min(len(text), literal.end+300)
	for at := from; at < to; at++ {
		if text[at] != ':' || !base62.at(text, at-1) || valueEnd.at(text, at+1) {
			continue
		}
		for _, v := range readValue(text, at+1) {
			if value := v.in(text); len(value) >= 8 && isSecretValue(value, passwordName, assigned) {
				return match{span: v}, true
			}
		}
	}
	return match{}, false
}

// aclPassword takes "user NAME on >PASSWORD".
func aclPassword(text []byte, literal span) (match, bool) {
	before := text[max(0, literal.start-80):literal.start]
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	if !containsAny(lowerASCII(nil, before), list{"user ", "setuser "}) {
		return match{}, false
	}
	return chosenAt(text, literal.end)
}

// variableDefault takes variable "db_password" { default = "X" }.
func variableDefault(text []byte, literal span) (match, bool) {
	name := span{literal.end, nameChars.after(text, literal.end, maxName)}
	how := rate(splitName(name.in(text)), "")
	value, ok := defaultValue(text, name)
	if how == otherName || !ok {
		return match{}, false
	}
	for _, v := range readValue(text, value) {
		if isSecretValue(v.in(text), how, assigned) {
			return match{span: v}, true
		}
	}
	return match{}, false
}

// defaultValue is where the default of the Terraform variable begins whose
// name ends with this one.
func defaultValue(text []byte, name span) (int, bool) {
	if start := nameChars.before(text, name.start, maxName); !bytes.HasSuffix(text[:start], []byte(`variable "`)) {
		return 0, false
	}
	block := text[name.end:min(len(text), name.end+maxLine)]
	if stop := bytes.IndexByte(block, '}'); stop >= 0 {
		block = block[:stop]
	}
	word := []byte("default")
	at := bytes.Index(block, word)
	if at < 0 {
		return 0, false
	}
	value, op := readOperator(text, span{name.end + at, name.end + at + len(word)})
	return value, op == assigned
}
