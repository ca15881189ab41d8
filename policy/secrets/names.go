package secrets

import (
	"slices"
	"strings"
)

// A strength says how much a name by itself tells about the value beside it.
type strength uint8

const (
	otherName    strength = iota // names no secret
	weakName                     // "token": digests and commit ids stand there, too
	strongName                   // "client secret"
	passwordName                 // what a person chose: shorter, and often without an operator
)

// nounStems stand in every noun. The finder looks for them; the words around
// decide.
var nounStems = list{"pass", "pw", "secret", "key", "token", "cred", "psk", "pepper"}

// nouns end the names of secrets.
var nouns = map[string]strength{
	"requirepass": passwordName, "storepass": passwordName, "keypass": passwordName, "bindpw": passwordName, "rootpw": passwordName,
	"password": passwordName, "passwd": passwordName, "passphrase": passwordName, "passcode": passwordName, "pwd": passwordName,
	"pass": passwordName, "pw": passwordName, "passwords": passwordName, "passw": passwordName,
	"secret": strongName, "secrets": strongName, "apikey": strongName, "secretkey": strongName, "accesskey": strongName, "privatekey": strongName,
	"authkey": strongName, "masterkey": strongName, "signingkey": strongName, "encryptionkey": strongName, "apitoken": strongName,
	"accesstoken": strongName, "authtoken": strongName, "clientsecret": strongName, "appsecret": strongName, "apisecret": strongName,
	"authtokens": strongName, "pepper": strongName, "sharedkey": strongName, "presharedkey": strongName, "psk": strongName, "accountkey": strongName,
	"key": weakName, "keys": weakName, "token": weakName, "tokens": weakName, "credential": strongName, "credentials": strongName, "creds": strongName, "cred": strongName,
	"apikeys": strongName, "storagekey": strongName, "sessionkey": strongName, "deploykey": strongName,
}

// foreignNames are names of secrets in other languages than English, among
// them SQL.
var foreignNames = map[string]strength{
	"identified by": passwordName, "contraseña": passwordName, "contrasenia": passwordName, "clave": passwordName, "clave secreta": strongName, "clave de api": strongName, "secreto": strongName, "mot de passe": passwordName, "mdp": passwordName,
	"passwort": passwordName, "kennwort": passwordName, "senha": passwordName, "пароль": passwordName, "Пароль": passwordName, "ПАРОЛЬ": passwordName,
	"كلمة المرور": passwordName, "كلمة السر": passwordName, "पासवर्ड": passwordName, "รหัสผ่าน": passwordName, "סיסמה": passwordName, "סיסמא": passwordName,
	"kata sandi": passwordName, "κωδικός": passwordName, "parool": passwordName, "lozinka": passwordName, "geslo": passwordName, "parolă": passwordName,
	"parola d'ordine": passwordName, "授权码": passwordName, "授權碼": passwordName, "パスフレーズ": passwordName, "合言葉": passwordName, "패스워드": passwordName,
	"密码": passwordName, "密碼": passwordName, "口令": passwordName, "パスワード": passwordName, "暗証番号": passwordName, "비밀번호": passwordName,
	"암호": passwordName, "hasło": passwordName, "wachtwoord": passwordName, "şifre": passwordName, "parola": passwordName, "lösenord": passwordName,
	"heslo": passwordName, "mật khẩu": passwordName, "salasana": passwordName, "adgangskode": passwordName, "jelszó": passwordName,
	"密钥": strongName, "密鑰": strongName, "秘钥": strongName, "私钥": strongName, "私鑰": strongName, "金鑰": strongName, "令牌": strongName, "凭证": strongName,
	"秘密鍵": strongName, "トークン": strongName, "シークレット": strongName, "시크릿": strongName, "토큰": strongName, "비밀키": strongName, "인증키": strongName,
	"apiキー": strongName, "api キー": strongName, "アクセスキー": strongName, "api 키": strongName, "api키": strongName, "비밀 키": strongName, "액세스 키": strongName,
	"секрет": strongName, "Секрет": strongName, "токен": strongName, "Токен": strongName, "ключ": strongName, "ключ api": strongName, "Ключ": strongName,
	"schlüssel": strongName, "geheimnis": strongName, "clé api": strongName, "clé secrète": strongName, "chave": strongName, "clé privée": strongName, "jeton": strongName, "segredo": strongName, "segreto": strongName,
	"chave secreta": strongName, "chave de api": strongName, "chiave": strongName, "chiave segreta": strongName, "chiave api": strongName, "chiave privata": strongName, "sleutel": strongName,
}

// keyQualifiers stand before "key" or "token" and make it the name of a
// secret; without one a key may be any key.
var keyQualifiers = []string{
	"api", "access", "secret", "private", "signing", "sign", "encryption", "encrypt", "decryption", "auth", "authentication", "authorization",
	"master", "service", "account", "storage", "admin", "app", "application", "session", "shared", "client", "deploy", "deployment",
	"license", "root", "webhook", "jwt", "hmac", "salt", "consumer", "subscription", "ssh", "rsa", "bot", "server", "write", "management", "security",
	"cipher", "aes", "fernet", "function", "host", "personal", "sas", "integration", "developer", "bearer", "refresh", "oauth", "oauth2", "id",
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
		return otherName
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
		return otherName
	case slices.Contains(publicQualifiers, before) && how != passwordName:
		return otherName
	case how != weakName:
		return how
	case strings.HasPrefix(noun, "token") && slices.Contains(tokenQualifiers, before):
		return otherName
	case slices.Contains(keyQualifiers, before):
		return strongName
	case strings.HasPrefix(noun, "key"):
		return otherName
	}
	return weakName
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
