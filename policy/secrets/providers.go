package secrets

// providerRules are keys whose form is that of any digest or random name.
func providerRules() []*rule {
	hex32, hex40 := parts{lowerHex.n(32)}, parts{lowerHex.n(40)}
	chosen := func(n int) nearby { return nearby{value: parts{base62.n(n)}, hold: mixedCase} }
	return nearbyRules([]nearbyRow{
		{"aws-secret-key", "AWS secret access key", list{"aws", "secret_access_key", "secretaccesskey", "secret access key", "s3_secret", "akia", "asia"},
			nearby{value: parts{base64std.n(40)}, hold: mixedCase}},
		{"cloudflare-token", "Cloudflare API token", list{"cloudflare", "cf_api", "cf-api", "cf_token"}, nearby{value: parts{base64url.n(40)}, hold: mixedCase}},
		{"cloudflare-global-key", "Cloudflare global API key", list{"cloudflare", "cf_api", "x-auth-key"}, nearby{value: parts{lowerHex.n(37)}}},
		{"scaleway-secret", "Scaleway secret key", list{"scaleway", "scw"}, nearby{value: uuid()}},
		{"heroku-legacy", "Heroku API key", list{"heroku"}, nearby{value: uuid()}},
		{"ibm-cloud", "IBM Cloud API key", list{"ibm", "bluemix"}, nearby{value: parts{base64url.n(44)}, hold: mixedCase}},
		{"huawei-secret", "Huawei Cloud secret key", list{"huawei", "hw_", "obs_", "华为"},
			nearby{value: parts{base62.n(40)}, hold: mixedCase, words: append(list{"sk", "ak"}, keyWords...)}},
		{"alibaba-secret", "Alibaba Cloud access key secret", list{"alibaba", "aliyun", "alicloud", "ltai", "阿里"}, chosen(30)},
		{"tencent-secret", "Tencent Cloud secret key", list{"tencent", "qcloud", "akid", "腾讯"}, chosen(32)},
		{"volcengine-secret", "Volcengine secret key", list{"volc", "aklt", "火山"}, nearby{value: parts{base64std.from(54, 62)}, hold: mixedCase}},
		{"wechat-secret", "WeChat app secret", list{"wechat", "weixin", "wx_", "微信"}, nearby{value: hex32}},
		{"feishu-secret", "Feishu app secret", list{"feishu", "lark", "飞书"}, chosen(32)},
		{"mistral", "Mistral API key", list{"mistral"}, chosen(32)},
		{"cohere", "Cohere API key", list{"cohere", "co_api_key"}, chosen(40)},
		{"zhipu", "Zhipu API key", list{"zhipu", "bigmodel", "glm", "智谱", "zai"}, nearby{value: parts{lowerHex.n(32), fixed("."), base62.n(16)}}},
		{"cursor", "Cursor API key", list{"cursor"}, nearby{value: parts{fixed("key_"), lowerHex.n(64)}}},
		{"elevenlabs-legacy", "ElevenLabs API key, older form", list{"elevenlabs", "xi-api-key"}, nearby{value: hex32}},
		{"pinecone-legacy", "Pinecone API key, older form", list{"pinecone"}, nearby{value: uuid()}},
		{"wandb-legacy", "Weights & Biases API key, older form", list{"wandb"}, nearby{value: hex40}},
		{"together-legacy", "Together API key, older form", list{"together"}, nearby{value: parts{lowerHex.n(64)}}},
		{"datadog-api", "Datadog API key", list{"datadog", "dd_api", "dd-api", "dd_app", "dd-app", "dd api"}, nearby{value: hex32}},
		{"datadog-app", "Datadog application key", list{"datadog", "dd_api", "dd-api", "dd_app", "dd-app", "dd app"}, nearby{value: hex40}},
		{"okta", "Okta API token", list{"okta", "ssws"}, nearby{value: parts{fixed("00"), base64url.n(40)}, hold: mixedCase}},
		{"algolia-admin", "Algolia admin API key", list{"algolia"}, nearby{value: hex32, words: list{"admin", "write", "secret", "api", "key"}}},
		{"asana", "Asana token", list{"asana"}, nearby{value: parts{digits.n(1), fixed("/"), digits.from(15, 17), fixed(":"), lowerHex.n(32)}}},
		{"asana-legacy", "Asana token, older form", list{"asana"}, nearby{value: hex32}},
		{"opsgenie", "Opsgenie API key", list{"opsgenie", "geniekey"}, nearby{value: uuid()}},
		{"exa", "Exa API key", list{"exa_api"}, nearby{value: uuid()}},
		{"consul", "Consul or Nomad ACL token", list{"consul", "nomad"}, nearby{value: uuid()}},
		{"rails-master-key", "Rails master key", list{"rails", "master.key", "master_key", "master key"}, nearby{value: hex32}},
		{"rails-secret-base", "Rails secret key base", list{"secret_key_base"}, nearby{value: parts{lowerHex.n(128)}}},
		{"django-secret", "Django secret key", list{"django", "secret_key"},
			nearby{value: parts{alphabetOf(numerals+lowers+"!@#$%^&*(-_=+)").from(50, 66)}, hold: isDjangoKey}},
		{"netlify-legacy", "Netlify token, older form", list{"netlify"}, nearby{value: parts{base64url.from(40, 64)}, hold: mixedCase}},
		{"vercel-legacy", "Vercel token, older form", list{"vercel", "zeit", "now_token"}, chosen(24)},
		{"snyk", "Snyk token", list{"snyk"}, nearby{value: uuid()}},
		{"codecov", "Codecov token", list{"codecov"}, nearby{value: uuid()}},
		{"codecov-upload", "Codecov upload token", list{"codecov"}, chosen(32)},
		{"intercom", "Intercom access token", list{"intercom"}, nearby{value: parts{base64std.n(59), fixed("=")}, hold: mixedCase}},
		{"braintree-private", "Braintree private key", list{"braintree"}, nearby{value: hex32, words: list{"private"}}},
		{"plaid-secret", "Plaid secret", list{"plaid"}, nearby{value: parts{lowerHex.n(30)}}},
		{"zendesk", "Zendesk API token", list{"zendesk"}, chosen(40)},
		{"mailgun-legacy", "Mailgun key, older form", list{"mailgun"}, nearby{value: parts{lowerHex.n(32), fixed("-"), lowerHex.n(8), fixed("-"), lowerHex.n(8)}}},
		{"twilio-token", "Twilio auth token", list{"twilio"}, nearby{value: hex32}},
		{"razorpay", "Razorpay key secret", list{"razorpay", "rzp_live", "rzp_test"}, chosen(24)},
		{"vault-legacy", "HashiCorp Vault token, older form", list{"vault"}, nearby{value: parts{fixed("s."), base62.n(24)}, hold: mixedCase}},
		{"sonar-legacy", "SonarQube token, older form", list{"sonar"}, nearby{value: hex40}},
		{"jenkins", "Jenkins API token", list{"jenkins"}, nearby{value: parts{fixed("11"), lowerHex.n(32)}}},
		{"pagerduty", "PagerDuty API key", list{"pagerduty"}, nearby{value: parts{alphabetOf(numerals + lowers + uppers + "_+-").n(20)}, hold: mixedCase}},
		{"virustotal", "VirusTotal API key", list{"virustotal"}, nearby{value: parts{lowerHex.n(64)}}},
		{"mailjet", "Mailjet secret", list{"mailjet"}, nearby{value: hex32}},
		{"dropbox", "Dropbox short-lived token", list{"dropbox"}, nearby{value: parts{fixed("sl."), base64url.from(100, 1500)}}},
		{"azure-devops-legacy", "Azure DevOps token, older form", list{"azure devops", "azure_devops", "azdo", "vsts", "visualstudio"},
			nearby{value: parts{alphabetOf(lowers + "234567").n(52)}}},
		{"totp-secret", "seed of one-time passwords", list{"totp", "otp", "2fa", "mfa", "authenticator"},
			nearby{value: parts{base32std.from(16, 64)}, hold: hasDigit, words: list{"seed", "secret", "key", "setup"}}},
		{"totp-groups", "seed of one-time passwords in groups of four", list{"totp", "otp", "2fa", "mfa", "authenticator"},
			nearby{value: groups(base32std), hold: hasDigit, words: list{"seed", "secret", "key", "setup"}}},
		{"totp-groups-lower", "seed of one-time passwords in groups of four, in lower case", list{"totp", "otp", "2fa", "mfa", "authenticator"},
			nearby{value: groups(alphabetOf(lowers + "234567")), hold: manyGroupDigits, words: list{"seed", "secret", "key", "setup"}}},
		{"ethereum-key", "Ethereum private key", list{"ethereum", "eth_", "wallet", "private", "metamask", "solidity", "web3", "evm", "deployer"},
			nearby{value: parts{fixed("0x"), anyHex.n(64)}, words: list{"private", "secret", "deployer key", "wallet("}}},
		{"hardhat-accounts", "private keys of the accounts that Hardhat deploys from", list{`accounts: ["`, "accounts: ['", `accounts":["`, `accounts": ["`},
			nearby{value: parts{fixed("0x"), anyHex.n(64)}, words: list{"accounts"}}},
		{"ethereum-key-bare", "Ethereum private key without 0x", list{"ethereum", "wallet", "metamask", "web3", "evm"},
			nearby{value: parts{anyHex.n(64)}, words: list{"private", "secret"}}},
		{"wireguard", "WireGuard key", list{"wireguard", "privatekey", "presharedkey", "wg genkey", "wg0"},
			nearby{value: parts{base64std.n(43), fixed("=")}, words: list{"private", "preshared", "genkey"}}},
	})
}

// groups is the first half of a seed as sites show it: four groups of four.
func groups(in *alphabet) parts {
	return parts{in.n(4), fixed(" "), in.n(4), fixed(" "), in.n(4), fixed(" "), in.n(4)}
}

func manyGroupDigits(value []byte) bool { return digits.count(value) >= 2 }

func hasDigit(value []byte) bool { return digits.count(value) > 0 }

// isDjangoKey asks for the symbols that a key is drawn from: digits and dashes
// alone are ids.
func isDjangoKey(value []byte) bool {
	return countAny(value, "!@#$%^&*(=+)") >= 3 && digits.count(value) >= 3
}
