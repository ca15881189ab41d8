package secretstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// signed is a token as jwt.io shows it, with its published key.
func signed(payload, key string) string {
	enc := base64.RawURLEncoding.EncodeToString
	body := enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc([]byte(payload))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	return body + "." + enc(mac.Sum(nil))
}

// Documented lists credentials that vendors and standards print.
func Documented() []string { return slices.Clone(examples) }

// A Sample is clean text and what sort of thing it is.
type Sample struct{ Sort, Text string }

// Clean makes one sample of every sort of text that looks like a secret and
// is none.
func Clean(r *rand.Rand) []Sample {
	var all []Sample
	for _, sort := range slices.Sorted(maps.Keys(cleanForms)) {
		all = append(all, Sample{sort, fill(r, pick(r, cleanForms[sort]))})
	}
	return all
}

var awsExample = "EXAM" + "PLE"

// examples are the credentials that documentation prints.
var examples = []string{
	"AKIAIOSFODNN7" + awsExample,
	"aws_secret_access_key = wJalrXUtnFEMI/" + "K7MDENG/" + "bPxRfiCY" + awsExample + "KEY",
	signed(`{"sub":"1234567890","name":"John Doe","iat":1516239022}`, "your-256-bit-secret"),
	"token: " + signed(`{"sub":"1234567890","name":"John Doe","admin":true}`, "secret"),
	"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("Aladdin:open"+" sesame")),
}

var cleanForms = map[string][]string{
	"checksum whose equals sign and first digits look quoted-printable": {"  devise (4.9.4) sha256=7e[hex:62]"},
	"name of a login before an address":                                 {"op read op://Prod/db-2/password ssh://git@host2:22/app.git"},
	"commit ids":                                                        {"commit [hex:40]\nparent [hex:40]", "fixed in [hex:40], see [hex:7]", "token refresh broke in [hex:40]", "key commit: [hex:40]", "sha: [hex:40]"},
	"digests":                                                           {"sha256:[hex:64]", "image: app@sha256:[hex:64]", "checksum/config: [hex:64]", "md5: [hex:32]", "SHA256:[b64:43]", "the key is [hex:64] in the cache", "etag: \"[hex:32]\"", "token digest [hex:64]"},
	"integrity":                                                         {`"integrity": "sha512-[b64:86]=="`, "sha384-[b64:64]", "integrity sha512-[b64:86]=="},
	"go.sum":                                                            {"golang.org/x/text v0.44.0 h1:[b64:43]=\ngolang.org/x/text v0.44.0/go.mod h1:[b64:43]="},
	"lock files":                                                        {"resolved \"https://registry.example.org/a/-/a-1.0.0.tgz#[hex:40]\"", "  checksum = \"[hex:64]\"", "hashes = [\"sha256:[hex:64]\"]"},
	"UUIDs":                                                             {"[uuid]", "request id [uuid]", "token id: [uuid]", "api key id [uuid]", "session [uuid] started", "\"key\": \"[uuid]\"", "secret name: [uuid]", "issued token jti=[uuid] sub=ana", "Token: `urn:uuid:[uuid]`"},
	"ULIDs":                                                             {"01[B36:1]ARZ3NDEKTSV4RRFFQ69G5F", "event 01h[dig:5]xkbdq8m2r7t5v9w3y4z", "token 01h[dig:5]xkbdq8m2r7t5v9w3y4z"},
	"traces":                                                            {"traceparent: 00-[hex:32]-[hex:16]-01", "trace_id=[hex:32] span_id=[hex:16]"},
	"branches":                                                          {"task-while-loading-the-index", "fix/risk-assessment-for-disk-usage", "desk-booking-[dig:4]", "ask-[hex:8]-again", "feature/token-refresh-[dig:3]", "task-[hex:12]", "refs/heads/task-while-[low:12]"},
	"prose":                                                             {"The bearer certificates-for-everyone were issued in 2024.", "username/password combination.", "Rotate the token every 90 days; the secret key never leaves the vault.", "password must have 12 characters, one digit and one symbol", "the API key is read from the environment", "Tokens: 128000 input, 4096 output", "ghp_ is the prefix of GitHub tokens, followed by 36 characters", "passwords are hashed with Argon2id or PBKDF2-HMAC-SHA512", "press ctrl+shift+down as the key binding", "The secret is to keep it simple."},
	"names":                                                             {"secretName: db-credentials-v2", "vaultKey: prod/payments/stripe", "existingSecret: postgres-creds-2024", "key: OAUTH2_PROXY_CLIENT_ID", "secretKey: \"OAUTH2_PROXY_CLIENT_ID\"", "tokenizationId: [hex:32]", "public_key: [b64:44]", "client_id: [hex:32]", "credentialsId: 'github-app-2'", "keyfile: /etc/ssl/private/server1.key", "PASSWORD_FILE=/run/secrets/db_password1", "existingSubscription", "picboxApiKeyImage1"},
	"variables":                                                         {"password: ${DB_PASSWORD1}", "token=$GITHUB_TOKEN2", "secret: {{ .Values.auth.password2 }}", "api_key = os.environ[\"API_KEY_V2\"]", "password := os.Getenv(\"PGPASS1\")", "curl -u $USER:$PASS2 https://x.example", "https://user:${TOKEN}@git.example.com/x.git", "password=%DB_PASSWORD2%", "const token = process.env.NPM_TOKEN2", "secret = config.Get(\"auth.secret2\")", "${{ secrets.NPM_TOKEN }}", "_authToken=${NPM_TOKEN}", "Authorization: Bearer $TOKEN", "Authorization: Bearer <your-token-here>", "postgres://app:${PGPASSWORD}@db/main", "password: !vault |"},
	"placeholders":                                                      {"password: changeme", "token: REDACTED", "api_key: your-api-key-here", "secret: <secret>", "password: ********", "token = \"xxxxxxxxxxxxxxxxxxxx\"", "ghp_" + strings.Repeat("x", 36), "AKIA" + strings.Repeat("X", 16), "sk-...", "sk_live_...", "password: ''", "PASSWORD=", "token: null", "API_KEY=TODO", "password: [PASSWORD]", "sk-ant-api03-...", "secret: 12345678", "glpat-your-token-goes-here"},
	"public keys":                                                       {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[b64:43] ana@example.com", "-----BEGIN PUBLIC KEY-----\n[der]\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\n[der]\n-----END CERTIFICATE-----", "age1[low:58]", `{"kty":"EC","crv":"P-256","x":"[b64u:43]","y":"[b64u:43]"}`, "PublicKey = [b64:43]=", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n[der]\n-----END PGP PUBLIC KEY BLOCK-----", "-----BEGIN PGP SIGNATURE-----\n\n[der]\n-----END PGP SIGNATURE-----"},
	"talk of keys":                                                      {"a file that begins with -----BEGIN RSA " + "PRIVATE" + " KEY----- is a key", "-----BEGIN " + "PRIVATE" + " KEY-----\n...\n-----END " + "PRIVATE" + " KEY-----"},
	"ciphertext":                                                        {"password: ENC[AES256_GCM,data:[b64:24],iv:[b64:43]=,tag:[b64:22]==,type:str]", "$ANSIBLE_VAULT;1.1;AES256\n[hex:80]\n[hex:80]", "kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgB[b64:400]"},
	"public ids": {"pk_live_[b62:24]", "pk_test_[b62:24]", "https://[hex:32]@o[dig:6].ingest.sentry.io/[dig:7]", "[dig:12]-[b36:32].apps.googleusercontent.com", "phc_[b62:43]", "sb_publishable_[b64u:31]", "UA-[dig:8]-1", "G-[B36:10]", "arn:aws:iam::[dig:12]:role/deploy", "projects/acme/secrets/db-password/versions/3",
		"NEXT_PUBLIC_POSTHOG_KEY=phc_[b62:43]", "stripe api key: pk_live_[b62:24]", "DD_CLIENT_TOKEN=pub[hex:32]", "checksum/secret: [hex:64]"},
	"local logins":       {"postgres://postgres:postgres@localhost:5432/test", "amqp://guest:guest@127.0.0.1:5672/", "http://admin:admin@localhost:3000", "mysql://root:root@127.0.0.1/app", "redis://localhost:6379/0", "postgres://user:password@db.example.com/app"},
	"documented":         examples,
	"code":               {"func parseToken(s string) (Token, error) { return Token{Kind: KindWord2}, nil }", "if token == nextToken { return ErrUnexpectedToken1 }", "passwordHash := bcrypt.GenerateFromPassword(pw, 12)", "secret := make([]byte, 32)", "if password == \"\" { return errNoPassword2 }. It took 40 ms. The parser skips \"x\".", "key := fmt.Sprintf(\"%s/%d\", name, id2)", "return key != \"\" && token.Valid()", "<input type=\"password\" name=\"password2\" id=\"pw2\">", "type Secret struct { Name string; Key string }", "assert.Equal(t, \"token2\", lexer.Next())", "--- PASS: TestTokenRefresh/case_2a (0.01s)"},
	"numbers":            {"token count: 128000", "key: 42", "pass: 17 fail: 0", "max_tokens=4096", "secret santa 2024", "password length 16", "session timeout 3600s"},
	"addresses":          {"secret manager: https://secrets.example.com/v1/key2", "token_url: https://login.example.com/oauth2/v2.0/token", "key server: keys.openpgp.org:11371", "api key page: https://console.example.com/settings/keys2", "jdbc:postgresql://db.example.com:5432/app", "contact the token team at tokens2@example.com", "http://example.com:8080/path@v1.2"},
	"paths":              {"key: config/keys/prod-2024/server.pem", "token file ~/.config/app/token2.json", "secrets/2024-05-01/rotation.md", "C:\\Users\\ana\\secrets\\key2.txt"},
	"versions":           {"password-store 1.7.4", "key: v1.2.3-rc.1", "token: @actions/core@1.10.1", "secretlint@12.0.1", "api-key-manager==2.31.0"},
	"times":              {"token expires: 2024-05-01T12:00:00Z", "key created 2024-05-01 12:00:00.123", "password changed 2024-05-01"},
	"CSS classes":        {"class=\"bg-gradient-to-r from-sky-500 key-token-2 md:w-1/2\"", "class=\"text-[#1da1f2] hover:text-red-500/75\""},
	"binary in base64":   {"data:image/png;base64,iVBORw0KGgo[b64:200]=", "[b64:120]", "favicon: [b64:64]"},
	"cookies of nothing": {"Cookie: theme=dark; lang=en-US; csrftoken=[b62:32]", "Set-Cookie: consent=accepted-2024; Path=/"},
	"templates of k8s":   {"kind: Secret\nmetadata:\n  name: x\ndata:\n  password: {{ .Values.password | b64enc }}", "kind: Secret\nmetadata:\n  name: x\nstringData:\n  password: ${PASSWORD}", "kind: Secret\nmetadata:\n  name: db-secret\ntype: Opaque"},
	"identifiers":        {"discord snowflake 1[dig:17].json", "order SK[dig:10]", "AC[dig:6] part number", "key_[dig:6]", "build [dig:8].[dig:2]", "1.[dig:3].[dig:2]"},
	"names of secrets":   {"SECRET_ARN=arn:aws:secretsmanager:eu-west-1:[dig:12]:secret:prod/db-[b62:6]", "SENTRY_DSN=https://[hex:32]@o[dig:6].ingest.sentry.io/[dig:7]\nworks now", "user.signingkey=[HEX:16]", "client_secret: us-east-1", "regex for github tokens: gh[[pousr]_[[A-Za-z0-9]{36}"},
	"shown in part":      {"secret=gh[low:1]_****[b62:4]", "Authorization: Bearer eyJhbGciOi...[b62:3]", "password: [b62:4]…[b62:4]"},
	"digests beside words": {"checksum/password: [hex:64]", "checksum/api-key: [hex:64]\\n", "Tests pass on both platforms. Build: [hex:64]", "tests pass on arm; image: a/b@sha256:[hex:64]",
		"repo/pepper:1.2@sha256:[hex:64]", "sig=[b64:60]"},
	"names before values": {"Deploy-Key: GITHUB_CLIENT_ID=Iv1.[hex:16]", "Token: SENTRY_DSN=https://[hex:32]@o[dig:6].ingest.sentry.io/[dig:7]", "<postgres://app:<password>@db:5432/app>",
		"jdbc:postgresql://localhost/x?user=postgres&password=postgres"},
	"tables":     {"name,password\nana,none\n", "| token | kind |\n|---|---|\n| [hex:40] | commit |\n", "variable \"db_password\" {\n  type = string\n  sensitive = true\n}", "the user on >2 machines", "password 0 is the default", "net use \\\\fs01\\share lists it", "chpasswd reads user:password lines"},
	"Chinese":    {"密码不能少于八位，必须包含数字。", "令牌每小时轮换一次", "密码：请联系管理员", "密钥保存在保险库 vault-2 中"},
	"e-mail":     {"Message-ID: <[hex:8].[hex:8]@mail.example.com>", "key-ana+tag2@example.org"},
	"long words": {strings.Repeat("internationalization-", 3), "thisIsAVeryLongCamelCaseIdentifierForTokens2", "SOME_VERY_LONG_CONSTANT_NAME_FOR_SECRET_ROTATION_V2"},
}
