package secrets

import (
	"encoding/base64"
	"strings"
)

// chatRules are the tokens and hooks of chat services.
func chatRules() []*rule {
	dash, dot := fixed("-"), fixed(".")
	slack := base64url
	return tokenRules([]tokenRow{
		{"slack-token", "Slack bot, user or workspace token", list{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxo-"},
			token{tail: parts{slack.from(20, 250)}, hold: manyDigits}},
		{"slack-cookie", "Slack session cookie", list{"xoxd-"}, token{tail: parts{alphabetOf(numerals+lowers+uppers+"+/%-_=").from(40, 300)}}},
		{"slack-config", "Slack configuration token", list{"xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"}, token{tail: parts{slack.from(40, 250)}}},
		{"slack-app", "Slack app token", list{"xapp-"}, token{tail: parts{digits.n(1), dash, upper36.from(8, 14), dash, digits.from(10, 14), dash, base62.from(40, 80)}}},
		{"slack-webhook", "Slack webhook", list{"hooks.slack.com/services/T"},
			token{tail: parts{upper36.from(7, 12), fixed("/"), base62.from(8, 12), fixed("/"), base62.from(20, 48)}}},
		{"slack-workflow", "Slack workflow webhook", list{"hooks.slack.com/workflows/T"},
			token{tail: parts{upper36.from(7, 12), fixed("/"), upper36.from(7, 12), fixed("/"), digits.from(10, 20), fixed("/"), base62.from(20, 48)}}},
		{"slack-trigger", "Slack workflow trigger", list{"hooks.slack.com/triggers/"},
			token{tail: parts{upper36.from(8, 13), fixed("/"), digits.from(10, 20), fixed("/"), lowerHex.n(32)}}},
		{"discord-bot", "Discord bot token", list{"."},
			token{head: parts{base62.from(23, 28)}, tail: parts{base64url.n(6), dot, base64url.from(27, 38)}, edge: closed, hold: startsWithNumber}},
		{"discord-webhook", "Discord webhook", list{"/api/webhooks/"},
			token{tail: parts{digits.from(17, 20), fixed("/"), base64url.from(60, 70)}}},
		{"telegram-bot", "Telegram bot token", list{":AA"}, token{head: parts{digits.from(8, 10)}, tail: parts{base64url.n(33)}, edge: left}},
		{"teams-webhook", "Microsoft Teams webhook", list{"/webhookb2/"},
			token{tail: append(append(uuid(), uuid(fixed("@"))...), uuid(fixed("/IncomingWebhook/"), lowerHex.n(32), fixed("/"))...)}},
		{"azure-workflow", "signed address of an Azure or Teams workflow", list{"&sv=1.0&sig="}, token{tail: parts{base64url.n(43)}}},
	})
}

// startsWithNumber asks that the first part of a Discord token is a user's
// number in base 64.
func startsWithNumber(token []byte) bool {
	first, _, _ := strings.Cut(string(token), ".")
	id, err := base64.RawURLEncoding.DecodeString(first)
	return err == nil && digits.holdsAll(id)
}

// mailRules are the keys of mail and telephone services.
func mailRules() []*rule {
	return tokenRules([]tokenRow{
		{"sendgrid", "SendGrid API key", list{"SG."}, token{tail: parts{base64url.n(22), fixed("."), base64url.n(43)}}},
		{"mailgun", "Mailgun API key", list{"key-"}, token{tail: parts{lowerHex.n(32)}, edge: closed}},
		{"mailchimp", "Mailchimp API key", list{"-us"}, token{head: parts{lowerHex.n(32)}, tail: parts{digits.from(1, 2)}, edge: closed}},
		{"brevo", "Brevo API key", list{"xkeysib-", "xsmtpsib-"}, token{tail: parts{lowerHex.n(64), fixed("-"), base62.n(16)}}},
		{"mailersend", "MailerSend token", list{"mlsn."}, token{tail: parts{lowerHex.n(64)}}},
		{"resend", "Resend API key", list{"re_"}, token{tail: parts{base62.n(8), fixed("_"), base62.n(24)}}},
		{"twilio-api-key", "Twilio API key", list{"SK"}, token{tail: parts{lowerHex.n(32)}, edge: closed}},
	})
}

// moneyRules are the keys of payment, shop and shipping services.
func moneyRules() []*rule {
	return tokenRules([]tokenRow{
		{"stripe-live", "Stripe live secret key", list{"sk_live_"}, token{tail: parts{base62.from(20, 250)}}},
		{"stripe-test", "Stripe test secret key", list{"sk_test_"}, token{tail: parts{base62.from(20, 250)}}},
		{"stripe-restricted", "Stripe restricted key", list{"rk_live_", "rk_test_"}, token{tail: parts{base62.from(20, 250)}}},
		{"stripe-webhook", "Stripe or Svix webhook secret", list{"whsec_"}, token{tail: parts{base64any.from(32, 80)}}},
		{"square-personal", "Square access token", list{"EAAA"}, token{tail: parts{base64url.from(58, 62)}, edge: closed}},
		{"square-access", "Square personal access token", list{"sq0atp-"}, token{tail: parts{base64url.n(22)}}},
		{"square-secret", "Square application secret", list{"sq0csp-"}, token{tail: parts{base64url.n(43)}}},
		{"shopify-access", "Shopify access token", list{"shpat_", "shpca_", "shppa_"}, token{tail: parts{anyHex.n(32)}}},
		{"shopify-shared", "Shopify shared secret", list{"shpss_"}, token{tail: parts{anyHex.n(32)}}},
		{"braintree", "Braintree access token", list{"access_token$production$", "access_token$sandbox$"},
			token{tail: parts{base36.n(16), fixed("$"), lowerHex.n(32)}}},
		{"plaid", "Plaid access token", list{"access-production-", "access-sandbox-", "access-development-"}, token{tail: uuid()}},
		{"easypost", "EasyPost API key", list{"EZAK", "EZTK"}, token{tail: parts{base62.n(54)}}},
		{"shippo", "Shippo token", list{"shippo_live_", "shippo_test_"}, token{tail: parts{lowerHex.n(40)}}},
		{"flutterwave", "Flutterwave secret key", list{"FLWSECK-", "FLWSECK_TEST-"}, token{tail: parts{base62.from(12, 40)}}},
		{"paddle", "Paddle API key", list{"pdl_live_apikey_", "pdl_sdbx_apikey_"},
			token{tail: parts{base36.n(26), fixed("_"), base62.n(22), fixed("_"), base62.n(3)}}},
		{"polar", "Polar access token", list{"polar_oat_", "polar_pat_"}, token{tail: parts{base62.from(40, 48)}}},
		{"duffel", "Duffel access token", list{"duffel_live_", "duffel_test_"}, token{tail: parts{base64url.n(43)}}},
		{"live-key", "live key of GoCardless, or stream key of Twitch", list{"live_"}, token{tail: parts{base64url.from(38, 48)}, edge: closed, hold: mixedCase}},
		{"facebook", "Facebook access token", list{"EAA"}, token{tail: parts{base62.from(100, 400)}, edge: left}},
	})
}

// serviceRules are the keys of other services.
func serviceRules() []*rule {
	dash, dot, low := fixed("-"), fixed("."), fixed("_")
	return tokenRules([]tokenRow{
		{"linear", "Linear API key", list{"lin_api_", "lin_oauth_"}, token{tail: parts{base62.from(40, 64)}}},
		{"notion", "Notion token", list{"ntn_"}, token{tail: parts{base62.n(46)}}},
		{"notion-legacy", "Notion integration secret", list{"secret_"}, token{tail: parts{base62.n(43)}, hold: mixedCase}},
		{"supabase-management", "Supabase access token", list{"sbp_"}, token{tail: parts{lowerHex.n(40)}}},
		{"supabase-secret", "Supabase secret key", list{"sb_secret_"}, token{tail: parts{base64url.from(28, 40)}}},
		{"sentry-org", "Sentry organization token", list{"sntrys_"}, token{tail: parts{base64any.from(60, 500)}}},
		{"sentry-user", "Sentry user token", list{"sntryu_", "sntrya_"}, token{tail: parts{lowerHex.n(64)}}},
		{"newrelic-user", "New Relic user key", list{"NRAK-"}, token{tail: parts{upper36.n(27)}}},
		{"newrelic-license", "New Relic license key", list{"FFFFNRAL"}, token{head: parts{anyHex.n(32)}}},
		{"grafana-service-account", "Grafana service account token", list{"glsa_"},
			token{tail: parts{base62.n(32), low, anyHex.n(8)}, sum: crcGrafana}},
		{"grafana-cloud", "Grafana Cloud token", list{"glc_"}, token{tail: parts{base64any.from(32, 400)}}},
		{"grafana-legacy", "Grafana API key", list{"eyJrIjoi"}, token{tail: parts{base64any.from(40, 400)}, edge: left}},
		{"figma", "Figma token", list{"figd_"}, token{tail: parts{base64url.from(38, 48)}}},
		{"asana-pair", "Asana personal access token, form of two numbers", list{"2/"},
			token{tail: parts{digits.from(15, 17), fixed("/"), digits.from(15, 17), fixed(":"), lowerHex.n(32)}, edge: left}},
		{"airtable", "Airtable token", list{"pat"}, token{tail: parts{base62.n(14), dot, lowerHex.n(64)}, hold: mixedCase}},
		{"hubspot", "HubSpot private app token", list{"pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"}, token{tail: uuid()}},
		{"postman", "Postman API key", list{"PMAK-"}, token{tail: parts{lowerHex.n(24), dash, lowerHex.n(34)}}},
		{"doppler", "Doppler token", list{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."},
			token{tail: parts{alphabetOf(numerals+lowers+uppers+"._-").from(40, 80)}}},
		{"onepassword-service", "1Password service account token", list{"ops_eyJ"}, token{tail: parts{base64any.from(200, 1500)}}},
		{"onepassword-secret", "1Password secret key", list{"A3-"},
			token{tail: parts{upper36.n(6), dash, alphabetOf(numerals+uppers+"-").from(28, 30)}, edge: closed, hold: manySeparators}},
		{"planetscale-token", "PlanetScale token", list{"pscale_tkn_", "pscale_oauth_"}, token{tail: parts{alphabetOf(numerals+lowers+uppers+"-_.=").from(32, 64)}}},
		{"planetscale-password", "PlanetScale password", list{"pscale_pw_"}, token{tail: parts{alphabetOf(numerals+lowers+uppers+"-_.=").from(32, 64)}}},
		{"neon", "Neon API key", list{"napi_"}, token{tail: parts{base36.n(64)}}},
		{"contentful", "Contentful token", list{"CFPAT-"}, token{tail: parts{base64url.n(43)}}},
		{"posthog-personal", "PostHog personal API key", list{"phx_"}, token{tail: parts{base62.from(40, 50)}}},
		{"launchdarkly", "LaunchDarkly key", list{"api-", "sdk-"}, token{tail: uuid(), edge: left}},
		{"dynatrace", "Dynatrace token", list{"dt0c01.", "dt0s01.", "dt0s16."}, token{tail: parts{upper36.n(24), dot, upper36.n(64)}}},
		{"tailscale", "Tailscale key", list{"tskey-"}, token{tail: parts{base64url.from(20, 80)}, hold: manySeparators}},
		{"databricks", "Databricks token", list{"dapi"}, token{tail: parts{lowerHex.n(32)}}},
		{"vault-service", "HashiCorp Vault service token", list{"hvs.", "hvr."}, token{tail: parts{base64url.from(24, 300)}}},
		{"vault-batch", "HashiCorp Vault batch token", list{"hvb."}, token{tail: parts{base64url.from(60, 500)}}},
		{"openshift", "OpenShift token", list{"sha256~"}, token{tail: parts{base64url.n(43)}, hold: mixedCase}},
		{"mongodb-atlas", "MongoDB Atlas service account secret", list{"mdb_sa_sk_"}, token{tail: parts{base64url.from(36, 48)}}},
		{"prefect", "Prefect API key", list{"pnu_", "pnb_"}, token{tail: parts{base62.n(36)}}},
		{"twitter-bearer", "Twitter bearer token", list{strings.Repeat("A", 21)},
			token{tail: parts{alphabetOf(numerals+lowers+uppers+"%=").from(70, 120)}, hold: equalsInside}},
		{"firebase-fcm", "Firebase messaging server key", list{":APA91b"}, token{tail: parts{base64url.from(130, 145)}}},
		{"typeform", "Typeform token", list{"tfp_"}, token{tail: parts{base64url.from(44, 64)}, edge: left, hold: mixedCase}},
		{"octopus", "Octopus Deploy API key", list{"API-"}, token{tail: parts{upper36.n(26)}, edge: closed}},
		{"infracost", "Infracost API key", list{"ico-"}, token{tail: parts{base62.n(32)}, edge: closed, hold: mixedCase}},
		{"readme", "ReadMe API key", list{"rdme_"}, token{tail: parts{base36.n(70)}}},
		{"intra42", "42 intranet secret", list{"s-s4t2ud-", "s-s4t2af-"}, token{tail: parts{lowerHex.n(64)}}},
		{"scalingo", "Scalingo token", list{"tk-us-"}, token{tail: parts{base64url.n(48)}, edge: left}},
		{"rapidapi", "RapidAPI key", list{"jsn"},
			token{head: parts{anyHex.from(5, 6), fixed("p1"), anyHex.n(15), fixed("msh"), anyHex.n(10)}, tail: parts{anyHex.n(12)}}},
		{"harness", "Harness access token", list{"pat.", "sat."},
			token{tail: parts{base64url.n(22), dot, lowerHex.n(24), dot, base62.n(20)}, edge: left}},
		{"trigger-dev", "Trigger.dev secret key", list{"tr_prod_", "tr_dev_", "tr_stg_"}, token{tail: parts{base62.from(20, 24)}, edge: closed, hold: mixedCase}},
		{"maxmind", "MaxMind license key", list{"_mmk"}, token{head: parts{base62.n(29), low, base62.n(6)}, edge: left}},
		{"checkly", "Checkly API key", list{"cu_"}, token{tail: parts{lowerHex.n(32)}, edge: closed}},
		{"sourcegraph-license", "Sourcegraph access token, form slk_", list{"slk_"}, token{tail: parts{lowerHex.n(64)}}},
		{"figma-oauth", "Figma OAuth token", list{"figu_", "figo_"}, token{tail: parts{base64url.from(38, 48)}}},
		{"settlemint", "SettleMint access token", list{"sm_pat_", "sm_aat_"}, token{tail: parts{base62.n(16)}, hold: mixedCase}},
		{"ubidots", "Ubidots token", list{"BBFF-"}, token{tail: parts{base62.n(30)}, edge: closed, hold: mixedCase}},
		{"clickhouse", "ClickHouse Cloud API secret", list{"4b1d"}, token{tail: parts{base62.n(38)}, edge: closed, hold: mixedCase}},
		{"mapbox-secret", "Mapbox secret token", list{"sk.eyJ"}, token{tail: parts{base64url.from(30, 200), dot, base64url.from(20, 24)}}},
	})
}

func manySeparators(token []byte) bool { return strings.Count(string(token), "-") >= 2 }

// equalsInside asks for the percent-encoded equals sign that parts the two
// halves of a Twitter token; runs of A alone are zeros in base 64.
func equalsInside(token []byte) bool {
	s := strings.ToUpper(string(token))
	at := max(strings.LastIndex(s, "%3D"), strings.LastIndex(s, "="))
	return at > 40 && len(s)-at > 30
}
