package secrets

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// headerRules are credentials in HTTP headers and on command lines.
func headerRules() []*rule {
	return []*rule{
		{id: "bearer-header", about: "bearer token in a header", names: list{"bearer ", "bearer:", "token token="}, check: bearerToken},
		{id: "authorization-header", about: "credentials in an Authorization header", names: list{"authorization"}, check: authorization},
		{id: "basic-header", about: "user and password of basic authentication", names: list{"basic "}, check: basicLogin},
		{id: "curl-user", about: "user and password on a command line", names: list{" -u", " --user", "--proxy-user", " --password="}, check: curlLogin},
		{id: "cli-password", about: "password behind a flag of a client", check: clientPassword,
			names: list{"mysql ", "mysqldump ", "mariadb ", "sshpass ", "redis-cli ", "docker login ", "az login ", "mongosh ", "ldapsearch ", "snmpwalk ", "snmpget ", "snmpset ", "openssl enc "}},
		{id: "session-cookie", about: "cookie of a session", names: list{"cookie", "cookies", ` -b "`, ` -b '`, `--cookie `}, check: sessionCookie},
	}
}

var bearerChars = alphabetOf(numerals + lowers + uppers + "-_.~+/=")

func bearerToken(text []byte, literal span) (match, bool) {
	start := openers.after(text, blanks.after(text, literal.end, 4), 2)
	end := bearerChars.after(text, start, 2000)
	value := bytes.TrimRight(text[start:end], ".-")
	ok := len(value) >= 16 && !isBlotted(value) && looksChosen(value) && looksRandom(value) && !isBareHash(value) && !isReference(value)
	return match{span: span{start, start + len(value)}}, ok
}

// authorization takes the value behind a scheme of any name.
func authorization(text []byte, literal span) (match, bool) {
	colon := blanks.after(text, closers.after(text, literal.end, 2), 2)
	if colon >= len(text) || strings.IndexByte(":=,", text[colon]) < 0 {
		return match{}, false
	}
	start := openers.after(text, blanks.after(text, colon+1, 4), 2)
	scheme := letters.after(text, start, 20)
	if scheme == start || !blanks.at(text, scheme) {
		return match{}, false
	}
	m, ok := bearerToken(text, span{start, scheme})
	if value := m.in(text); !ok && len(value) >= 32 && isBareHash(value) {
		ok = looksRandom(value) // nothing else stands behind a scheme
	}
	return m, ok
}

// basicLogin decodes what follows: a user, a colon and a password (RFC 7617).
func basicLogin(text []byte, literal span) (match, bool) {
	start := openers.after(text, blanks.after(text, literal.end, 4), 2)
	end := base64any.after(text, start, 500)
	user, password, ok := decodeLogin(text[start:end])
	known := isDocumented(text[start:end]) || bytes.Equal(user, password) // admin:admin protects nothing
	return match{span: span{start, end}}, ok && !known && isGiven(password)
}

// decodeLogin reads "user:password" out of base 64.
func decodeLogin(encoded []byte) (user, password []byte, ok bool) {
	encoded = bytes.TrimRight(encoded, "=")
	if len(encoded) < 8 {
		return nil, nil, false
	}
	plain := decode64(encoded)
	user, password, ok = bytes.Cut(plain, []byte(":"))
	return user, password, ok && len(password) > 0 && isPrintable(plain)
}

func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}

// maxLine is how much of a line is read around a place in it.
const maxLine = 400

// curlLogin takes "-u user:password" on a line that calls a program for it.
func curlLogin(text []byte, literal span) (match, bool) {
	line := text[max(0, literal.start-maxLine):literal.start]
	line = lowerASCII(nil, line[bytes.LastIndexByte(line, '\n')+1:])
	if !containsAny(line, list{"curl", "wget", "http", "docker login", "mvn"}) {
		return match{}, false
	}
	if text[literal.end-1] == '=' {
		return wgetPassword(text, literal.end, line)
	}
	for _, v := range readValue(text, flagValue(text, literal.end)) {
		colon := bytes.IndexByte(v.in(text), ':')
		if colon < 0 {
			continue
		}
		secret := span{v.start + colon + 1, v.end}
		if password := secret.in(text); len(password) >= 6 && password[0] != '$' && isGiven(password) {
			return match{span: secret}, true
		}
	}
	return match{}, false
}

// wgetPassword takes the password behind its own flag, if one for the user
// stands before it.
func wgetPassword(text []byte, at int, line []byte) (match, bool) {
	v := readValue(text, at)[0]
	value := v.in(text)
	return match{span: v}, containsAny(line, list{"--user"}) && len(value) >= 6 && isGiven(value) && !isVariableName(value)
}

// flagValue is where the value of a flag begins, tied by a blank, an equals
// sign or nothing.
func flagValue(text []byte, at int) int {
	if at < len(text) && text[at] == '=' {
		at++
	}
	return blanks.after(text, at, 4)
}

// isGiven reports a value that stands for itself: no variable, no placeholder.
func isGiven(value []byte) bool { return !isPlaceholder(value) && !isReference(value) }

// clientPassword takes the password behind a flag of a client: -pSECRET of
// mysql, -p SECRET of docker, -a SECRET of redis-cli, -w SECRET of LDAP,
// -A and -X SECRET of SNMP.
func clientPassword(text []byte, literal span) (match, bool) {
	from := literal.end - 1 // the blank in front of the first flag
	line := lineAfter(text, from, maxLine)
	for _, flag := range []string{" -p", " -a", " -w", " -A", " -X", " -k "} {
		at := bytes.Index(line, []byte(flag))
		if at < 0 {
			continue
		}
		for _, v := range readValue(text, flagValue(text, from+at+len(flag))) {
			if isSecretValue(v.in(text), passwordName, assigned) {
				return match{span: v}, true
			}
		}
	}
	return match{}, false
}

var (
	cookieChars = alphabetOf(numerals + lowers + uppers + "-_.%+/=:")
	cookieWords = list{"sess", "sid", "auth", "token", "jwt", "login", "remember", "aspnetcore"}
)

// sessionCookie takes a random value of a cookie whose name speaks of a
// session or a login.
func sessionCookie(text []byte, literal span) (match, bool) {
	colon := blanks.after(text, closers.after(text, literal.end, 2), 2)
	flag := blanks.at(text, literal.end-1) || quotes.at(text, literal.end-1)
	if !flag && (colon >= len(text) || text[colon] != ':' && text[colon] != '=') {
		return match{}, false
	}
	line := lineAfter(text, literal.end, maxLine)
	for at := 0; at < len(line); at++ {
		if line[at] != '=' {
			continue
		}
		name := lowerASCII(nil, line[nameChars.before(line, at, maxName):at])
		start := literal.end + at + 1
		value := span{start, cookieChars.after(text, start, 800)}
		if isSessionName(name) && isSession(value.in(text)) {
			return match{span: value}, true
		}
	}
	return match{}, false
}

func isSessionName(name []byte) bool {
	return containsAny(name, cookieWords) && !containsAny(name, list{"csrf", "xsrf"})
}

func isSession(value []byte) bool {
	return len(value) >= 16 && (digits.count(value) > 1 || switchesCase(value)) && looksRandom(value) && !isUUID(value)
}

// lineAfter is the rest of a line, at most limit bytes of it.
func lineAfter(text []byte, at, limit int) []byte {
	rest := text[at:min(len(text), at+limit)]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		return rest[:end]
	}
	return rest
}

// base64Text decodes standard or URL base 64 with or without padding.
func base64Text(b []byte) []byte {
	plain, err := base64.StdEncoding.DecodeString(string(b))
	if err != nil {
		return decode64(bytes.TrimRight(b, "="))
	}
	return plain
}
