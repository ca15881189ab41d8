package secrets

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
)

// cloudRules are the keys of clouds and hosting.
func cloudRules() []*rule {
	azureSecret := alphabetOf(numerals + lowers + uppers + "-_.~")
	webhook := func(path string) parts { return uuid(fixed(path)) }
	keys := tokenRules([]tokenRow{
		{"aws-access-key-id", "AWS access key id", list{"AKIA", "ASIA"}, token{tail: parts{base32std.n(16)}}},
		{"aws-bearer-id", "AWS bearer or context credential id", list{"ABIA", "ACCA"}, token{tail: parts{base32std.n(16)}}},
		{"aws-session", "AWS session token", list{"IQoJb3JpZ2lu", "FwoGZXIvYXdz"}, token{tail: parts{base64any.from(150, 3000)}}},
		{"aws-bedrock", "AWS Bedrock API key", list{"ABSK"}, token{tail: parts{base64any.from(90, 270)}, edge: left}},
		{"gcp-api-key", "Google API key", list{"AIza"}, token{tail: parts{base64url.n(35)}}},
		{"gemini-key", "Google Gemini API key", list{"AQ.Ab8RN6"}, token{tail: parts{base64url.from(40, 50)}}},
		{"google-client-secret", "Google OAuth client secret", list{"GOCSPX-"}, token{tail: parts{base64url.n(28)}}},
		{"google-access-token", "Google access token", list{"ya29."}, token{tail: parts{base64url.from(60, 1000)}}},
		{"google-refresh-token", "Google refresh token", list{"1//0"}, token{tail: parts{base64url.from(60, 200)}, edge: left}},
		{"azure-client-secret", "Azure client secret", list{"Q~"},
			token{head: parts{digits.n(1), base62.n(3)}, tail: parts{azureSecret.from(31, 34)}}},
		{"azure-storage", "Azure storage, Cosmos DB, Batch, API Management or Machine Learning key", list{"+ASt", "ACDb", "+ABa", "APIM", "+AMC"},
			token{head: parts{base64std.n(76)}, tail: parts{base64std.n(6), fixed("==")}}},
		{"azure-connection", "key in an Azure connection string", list{"AccountKey=", "SharedAccessKey="},
			token{tail: parts{base64any.from(40, 90)}}},
		{"azure-sas", "Azure shared access signature", list{"sig="},
			token{tail: parts{alphabetOf(numerals+lowers+uppers+"+/%=").from(44, 70)}, edge: left, hold: isSignature}},
		{"azure-devops-pat", "Azure DevOps token", list{"AZDO"}, token{head: parts{base62.n(76)}, tail: parts{base62.n(4)}}},
		{"azure-cask", "Azure identifiable key", list{"JQQJ99"}, token{head: parts{base62.n(52)}, tail: parts{base62.from(22, 30)}}},
		{"alibaba-key", "Alibaba Cloud access key id, newer form", list{"LTAI5t"}, token{tail: parts{base62.n(18)}}},
		{"alibaba-key-id", "Alibaba Cloud access key id", list{"LTAI"}, token{tail: parts{base62.from(12, 22)}, edge: closed, hold: mixedCase}},
		{"tencent-key-id", "Tencent Cloud secret id", list{"AKID"}, token{tail: parts{base62.n(32)}, edge: closed, hold: mixedCase}},
		{"baidu-key", "Baidu Cloud key", list{"bce-v3/ALTAK-"}, token{tail: parts{base62.n(21), fixed("/"), lowerHex.n(40)}}},
		{"volcengine-key", "Volcengine access key", list{"AKLT"}, token{tail: parts{base62.from(40, 50)}}},
		{"feishu-webhook", "Feishu or Lark bot webhook", list{"open.feishu.cn", "open.larksuite.com"},
			token{tail: webhook("/open-apis/bot/v2/hook/")}},
		{"wecom-webhook", "WeCom bot webhook", list{"qyapi.weixin.qq.com"}, token{tail: webhook("/cgi-bin/webhook/send?key=")}},
		{"dingtalk-webhook", "DingTalk bot webhook", list{"oapi.dingtalk.com/robot/send?access_token="}, token{tail: parts{lowerHex.n(64)}}},
		{"dingtalk-sign", "DingTalk signing secret", list{"SEC"}, token{tail: parts{lowerHex.n(64)}, edge: closed}},
		{"digitalocean-pat", "DigitalOcean personal access token", list{"dop_v1_"}, token{tail: parts{lowerHex.n(64)}}},
		{"digitalocean-oauth", "DigitalOcean OAuth token", list{"doo_v1_", "dor_v1_"}, token{tail: parts{lowerHex.n(64)}}},
		{"cloudflare-origin-ca", "Cloudflare origin CA key", list{"v1.0-"}, token{tail: parts{lowerHex.n(24), fixed("-"), lowerHex.n(146)}}},
		{"heroku-key", "Heroku API key", list{"HRKU-AA"}, token{tail: parts{base64url.from(56, 60)}}},
		{"yandex-api-key", "Yandex Cloud API key", list{"AQVN"}, token{tail: parts{base64url.from(35, 38)}}},
		{"flyio", "Fly.io token", list{"fm2_", "fm1r_", "fm1a_"}, token{tail: parts{base64any.from(100, 3000)}, edge: left}},
		{"flyio-access", "Fly.io access token", list{"fo1_"}, token{tail: parts{base64url.n(43)}}},
	})
	forms := azureKeys()
	form := func(literal []byte) token { return forms[string(literal)] }
	return append(keys, &rule{id: "azure-key", about: "Azure service key", literals: slices.Sorted(maps.Keys(forms)), compact: true, form: form,
		check: func(text []byte, literal span) (match, bool) { return form(literal.in(text)).check(text, literal) }})
}

// azureKeys are the keys that Azure signs in their midst, each form by its
// signature.
func azureKeys() map[string]token {
	padded := func(head part, size int, end string) token {
		return token{head: parts{head}, tail: parts{part{in: head.in, min: size, max: size}, fixed(end)}}
	}
	quarter := alphabetOf("ABCD").n(1)
	messaging := padded(base64std.n(33), 6, "=")
	return map[string]token{
		"+ASb": messaging, "+AEh": messaging, "+ARm": messaging, "AIoT": messaging, "AZEG": messaging,
		"AzCa": padded(base62.n(33), 6, "="),
		"AzFu": padded(base64url.n(44), 6, "=="),
		"AzSe": {head: parts{base62.n(42)}, tail: parts{quarter, base62.n(5)}, edge: closed},
		"+ACR": {head: parts{base64std.n(42)}, tail: parts{quarter, base64std.n(5)}},
	}
}

// isSignature asks for the one form 32 bytes of a signature have: 43
// characters of base 64 and an equals sign, which is mostly percent-encoded.
func isSignature(token []byte) bool {
	plain, err := url.PathUnescape(string(token[len("sig="):]))
	sum, bad := base64.StdEncoding.DecodeString(plain)
	return err == nil && bad == nil && len(sum) == 32
}
