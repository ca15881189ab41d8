package secrets

import (
	"slices"
	"strings"
)

// A strength says how much a name by itself tells about the value beside it.
type strength uint8

const (
	noSecret strength = iota
	weak              // "token": digests and commit ids stand there, too
	strong            // "client secret"
	password          // chosen by a person: shorter, and often without an operator
)

// nouns end the names of secrets. The finder looks for them; the words around
// decide.
var nouns = map[string]strength{
	"password": password, "passwd": password, "passphrase": password, "passcode": password, "pwd": password,
	"pass": password, "pw": password, "passwords": password, "passw": password,
	"secret": strong, "secrets": strong, "apikey": strong, "secretkey": strong, "accesskey": strong, "privatekey": strong,
	"authkey": strong, "masterkey": strong, "signingkey": strong, "encryptionkey": strong, "apitoken": strong,
	"accesstoken": strong, "authtoken": strong, "clientsecret": strong, "appsecret": strong, "apisecret": strong,
	"authtokens": strong, "sharedkey": strong, "presharedkey": strong, "psk": strong, "accountkey": strong,
	"key": weak, "keys": weak, "token": weak, "tokens": weak, "credential": weak, "credentials": weak, "creds": weak, "cred": weak,
	"apikeys": strong, "storagekey": strong, "sessionkey": strong, "deploykey": strong,
}

// foreignNames are names of secrets in other languages than English, among
// them SQL.
var foreignNames = map[string]strength{
	"identified by": password, "contraseña": password, "contrasenia": password, "clave": password, "clave secreta": strong, "mot de passe": password, "mdp": password,
	"passwort": password, "kennwort": password, "senha": password, "пароль": password, "Пароль": password, "ПАРОЛЬ": password,
	"كلمة المرور": password, "كلمة السر": password, "पासवर्ड": password, "รหัสผ่าน": password, "סיסמה": password, "סיסמא": password,
	"kata sandi": password, "κωδικός": password, "parool": password, "lozinka": password, "geslo": password, "parolă": password,
	"密码": password, "密碼": password, "口令": password, "パスワード": password, "暗証番号": password, "비밀번호": password,
	"암호": password, "hasło": password, "wachtwoord": password, "şifre": password, "parola": password, "lösenord": password,
	"heslo": password, "mật khẩu": password, "salasana": password, "adgangskode": password, "jelszó": password,
	"密钥": strong, "密鑰": strong, "秘钥": strong, "私钥": strong, "私鑰": strong, "金鑰": strong, "令牌": strong, "凭证": strong,
	"秘密鍵": strong, "トークン": strong, "シークレット": strong, "시크릿": strong, "토큰": strong, "비밀키": strong, "인증키": strong,
	"секрет": strong, "Секрет": strong, "токен": strong, "Токен": strong, "ключ": strong, "Ключ": strong,
	"schlüssel": strong, "geheimnis": strong, "clé api": strong, "clé secrète": strong, "chave": strong, "jeton": strong, "sleutel": strong,
}

// keyQualifiers stand before "key" or "token" and make it the name of a
// secret; without one a key may be any key.
var keyQualifiers = []string{
	"api", "access", "secret", "private", "signing", "sign", "encryption", "encrypt", "decryption", "auth", "authentication", "authorization",
	"master", "service", "account", "storage", "admin", "app", "application", "session", "shared", "client", "deploy", "deployment",
	"license", "root", "webhook", "jwt", "hmac", "consumer", "subscription", "ssh", "rsa", "bot", "server", "write", "management", "security",
	"cipher", "aes", "function", "host", "personal", "sas", "integration", "developer", "bearer", "refresh", "oauth", "oauth2", "id",
	"registry", "publish", "push", "upload", "write", "read", "cookie", "crypto", "vault", "unseal", "wallet", "preshared", "identity",
	"github", "gitlab", "gh", "gl", "npm", "pypi", "slack", "stripe", "openai", "anthropic", "aws", "azure", "gcp", "google", "discord", "telegram",
	"sentry", "datadog", "cloudflare", "heroku", "twilio", "sendgrid", "mailgun", "docker", "jira", "jenkins", "sonar", "vercel", "netlify",
	"mistral", "cohere", "groq", "gemini", "deepseek", "hf", "huggingface", "replicate", "supabase", "notion", "linear", "figma",
}

// tokenQualifiers stand before "token" where it is not a credential.
var tokenQualifiers = []string{
	"page", "next", "continuation", "continue", "sync", "cancellation", "cancel", "csrf", "xsrf", "lock", "fencing", "change", "resume",
	"pagination", "cursor", "stop", "special", "eos", "bos", "pad", "mask", "max", "min", "input", "output", "total", "num", "per", "prev",
	"previous", "last", "first", "design", "syntax", "lexer", "parse", "parser", "idempotency", "snapshot", "prompt", "completion", "cached",
}

// publicQualifiers make any key or token public.
var publicQualifiers = []string{"public", "pub", "publishable", "pk", "primary", "foreign", "cache", "partition", "sort", "hash", "row", "dedupe"}

// afterNouns may follow a noun without changing what the name names. Any
// other word does: passwordHash, tokenType, secretName.
var afterNouns = []string{
	"value", "val", "text", "str", "string", "plain", "plaintext", "raw", "prod", "production", "dev", "development", "staging", "stage",
	"test", "live", "old", "new", "current", "default", "base64", "b64", "main", "secondary", "base", "input", "env", "a", "b",
}

// isTestOutput reports the verdict PASS of a test: "--- PASS: TestName".
func isTestOutput(text []byte, name span) bool {
	return string(name.in(text)) == "PASS" && name.end < len(text) && text[name.end] == ':'
}

// rate says what a name names, from its words in lower case; before is the
// word in front of the name in the text, if there is one.
func rate(words []string, before string) strength {
	for n := len(words); n > 0 && (slices.Contains(afterNouns, words[n-1]) || isNumber(words[n-1])) && !isNoun(words[n-1]); n = len(words) {
		words = words[:n-1]
	}
	if len(words) == 0 {
		return noSecret
	}
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	noun := strings.TrimRight(words[len(words)-1], numerals)
	how, ok := nouns[noun]
	if !ok {
		before, noun = cutNoun(noun)
		how = nouns[noun]
	}
	return qualify(noun, how, before)
}

// cutNoun parts a noun from what is written together with it: PGPASSWORD.
func cutNoun(word string) (before, noun string) {
	for _, noun := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey"} {
		if before, ok := strings.CutSuffix(word, noun); ok {
			return before, noun
		}
	}
	return word, ""
}

func qualify(noun string, how strength, before string) strength {
	switch {
	case noun == "":
		return noSecret
	case slices.Contains(publicQualifiers, before) && how != password:
		return noSecret
	case how != weak:
		return how
	case strings.HasPrefix(noun, "token") && slices.Contains(tokenQualifiers, before):
		return noSecret
	case slices.Contains(keyQualifiers, before):
		return strong
	case strings.HasPrefix(noun, "key"):
		return noSecret
	}
	return weak
}

func isNoun(word string) bool { _, ok := nouns[word]; return ok }

func isNumber(word string) bool { return digits.holdsAll([]byte(word)) }

// splitName cuts an identifier into its words, in lower case: at separators
// and where camel case begins a new one.
func splitName(name []byte) []string {
	var words []string
	for i := 0; i < len(name); {
		if !base62[name[i]] {
			i++
			continue
		}
		end := i
		if letters[name[i]] {
			end = wordEnd(name, i)
		}
		end = digits.after(name, end, len(name))
		words = append(words, string(lowerASCII(nil, name[i:end])))
		i = end
	}
	return words
}
