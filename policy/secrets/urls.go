package secrets

import (
	"bytes"
	"strings"
)

// urlRules are logins inside addresses.
func urlRules() []*rule {
	return []*rule{
		{id: "url-password", about: "password in a URL", literals: list{"://"}, check: urlLogin},
		{id: "jdbc-oracle", about: "password in an Oracle JDBC address", literals: list{"jdbc:oracle:thin:"}, check: oracleLogin},
		{id: "totp-seed", about: "seed of one-time passwords", literals: list{"otpauth://"}, check: totpSeed},
	}
}

const maxAuthority = 400

var (
	urlEnd      = alphabetOf(" \t\r\n\"'`<>\\")
	schemeChars = alphabetOf(lowers + uppers + numerals + "+.-")
	seedChars   = alphabetOf(uppers + lowers + "234567")
)

// urlLogin takes scheme://user:password@host, and scheme://token@host.
func urlLogin(text []byte, literal span) (match, bool) {
	if schemeChars.before(text, literal.start, 30) == literal.start {
		return match{}, false
	}
	end := literal.end
	for end < len(text) && end-literal.end < maxAuthority && !urlEnd[text[end]] {
		end++
	}
	at, colon := splitLogin(text[literal.end:end])
	if at < 0 || text[literal.end] == '[' {
		return match{}, false
	}
	user, secret := text[literal.end:literal.end+at], span{literal.end, literal.end + at}
	if colon < 0 {
		return match{span: secret}, len(user) >= 20 && looksChosen(user) && looksRandom(user) && !isSentryAddress(user, text[secret.end:end])
	}
	secret.start += colon + 1
	host := text[literal.end+at+1 : end]
	return match{span: secret}, isLogin(user[:colon], secret.in(text), host)
}

// isSentryAddress reports a data source name of Sentry, which stands in web
// pages: 32 hexadecimal digits at a host, and the number of a project.
func isSentryAddress(user, rest []byte) bool {
	project := rest[bytes.LastIndexByte(rest, '/')+1:]
	known := bytes.Contains(rest, []byte(".sentry.io/")) && digits.at(project, 0)
	return len(user) == 32 && anyHex.holdsAll(user) && len(project) > 0 && (known || digits.holdsAll(project))
}

// splitLogin finds the at sign that ends a login and the colon in it. A
// password may hold a slash; a path may hold an at sign.
func splitLogin(rest []byte) (at, colon int) {
	authority := rest
	if slash := bytes.IndexAny(rest, "/?#"); slash >= 0 {
		authority = rest[:slash]
	}
	if at = bytes.LastIndexByte(authority, '@'); at >= 0 {
		return at, bytes.IndexByte(authority[:at], ':')
	}
	colon = bytes.IndexByte(authority, ':')
	at = bytes.IndexByte(rest, '@')
	port := len(authority) < len(rest) && rest[len(authority)] != '#' && colon >= 0 && digits.holdsAll(authority[colon+1:])
	if colon < 0 || at < colon || port || bytes.IndexByte(rest[:colon], '.') >= 0 || bytes.Contains(rest[:at], []byte("//")) {
		return -1, -1 // a port and a path, or another address behind it
	}
	return at, colon
}

// isLogin leaves out variables, placeholders, and the default logins of local
// services, which protect nothing.
func isLogin(user, password, host []byte) bool {
	if len(password) < 4 || !isGiven(password) || holdsEscape(password) || isVariableName(password) {
		return false
	}
	return !isLocalHost(host) || !isDefaultLogin(string(user), string(password))
}

// isVariableName reports words in braces, or in capitals with underscores.
func isVariableName(password []byte) bool {
	bare := bytes.Trim(password, "${}<>[]%")
	constant := upper.count(bare) > 0 && lower.count(bare) == 0 && bytes.IndexByte(bare, '_') > 0
	return joinsWords(bare) && (constant || len(bare) < len(password))
}

func isDefaultLogin(user, password string) bool {
	switch password {
	case user, "guest", "admin", "root", "postgres", "minioadmin", "example", "test", "dev", "local", "123456":
		return true
	}
	return false
}

func isLocalHost(host []byte) bool {
	name := string(host[:schemeChars.after(host, 0, len(host))])
	return name == "localhost" || strings.HasPrefix(name, "127.") || name == "0.0.0.0" || name == "host.docker.internal" ||
		bytes.HasPrefix(host, []byte("[::1]")) || name != "" && !strings.Contains(name, ".")
}

// oracleLogin takes jdbc:oracle:thin:user/password@host.
func oracleLogin(text []byte, literal span) (match, bool) {
	rest := text[literal.end:min(len(text), literal.end+200)]
	slash, at := bytes.IndexByte(rest, '/'), bytes.IndexByte(rest, '@')
	if slash < 1 || at < slash+2 || bytes.ContainsAny(rest[:at], " \n\"'") {
		return match{}, false
	}
	secret := span{literal.end + slash + 1, literal.end + at}
	return match{span: secret}, isLogin(rest[:slash], secret.in(text), rest[at+1:])
}

func totpSeed(text []byte, literal span) (match, bool) {
	rest := text[literal.end:min(len(text), literal.end+400)]
	key := bytes.Index(rest, []byte("secret="))
	if key < 0 || bytes.ContainsAny(rest[:key], "\n") {
		return match{}, false
	}
	start := literal.end + key + len("secret=")
	end := seedChars.after(text, start, 128)
	return match{span: span{start, end}}, end-start >= 16 && looksRandom(text[start:end])
}
