package secretstest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Generate makes a secret that the rule must find, in one of the forms it
// comes in: a bare token, or a few lines where its kind needs them. It panics
// for a rule it does not know.
func Generate(rule string, r *rand.Rand) string {
	forms := templates()[rule]
	if len(forms) == 0 {
		panic(fmt.Sprintf("secretstest: no generator for rule %q", rule))
	}
	return fill(r, pick(r, forms))
}

// Forms makes one secret of each form of a rule.
func Forms(rule string, r *rand.Rand) []string {
	var made []string
	for _, form := range templates()[rule] {
		made = append(made, fill(r, form))
	}
	return made
}

// Rules lists the rules that Generate knows, in order.
func Rules() []string { return slices.Sorted(maps.Keys(templates())) }

func templates() map[string][]string {
	all := map[string][]string{}
	for _, family := range []map[string][]string{forgeTokens, cloudTokens, modelTokens, serviceTokens, keyForms, loginForms, pairForms, providerForms} {
		maps.Copy(all, family)
	}
	return all
}

var forgeTokens = map[string][]string{
	"github-pat":             {"ghp_[github]"},
	"github-oauth":           {"gho_[github]"},
	"github-app-user":        {"ghu_[github]"},
	"github-app-server":      {"ghs_[github]"},
	"github-refresh":         {"ghr_[github]"},
	"github-fine-grained":    {"github_pat_[b62:22]_[b62:59]"},
	"gitlab-pat":             {"glpat-[b64u:20]"},
	"gitlab-pat-routable":    {"glpat-[b64u:27].01.[b36:9]", "glpat-[b64u:120].0z.[b36:9]"},
	"gitlab-runner":          {"glrt-[b64u:20]"},
	"gitlab-registration":    {"GR" + "1348941[b64u:20]"},
	"gitlab-deploy":          {"gldt-[b64u:20]"},
	"gitlab-other":           {"glcbt-[b64u:20]", "glptt-[hex:40]", "glsoat-[b64u:20]", "gloas-[hex:64]", "glimt-[b62:25]", "glft-[b64u:20]", "glagent-[b64u:50]"},
	"bitbucket-app-password": {"[atbb]"},
	"atlassian":              {"[atatt]"},
	"npm-token":              {"npm_[github]"},
	"pypi-token":             {"pypi-AgE[b64u:130-170]"},
	"rubygems":               {"rubygems_[hex:48]"},
	"crates-io":              {"cio[b62:32]"},
	"nuget":                  {"oy2[b36:43]"},
	"clojars":                {"CLOJARS_[b36:60]"},
	"docker-pat":             {"dckr_pat_[b64u:27]"},
	"docker-oat":             {"dckr_oat_[b64u:32]"},
	"docker-swarm":           {"SWMTKN-1-[b36:50]-[b36:25]", "SWMKEY-1-[b64:43]"},
	"jfrog-api-key":          {"AKCp[b62:69]"},
	"jfrog-reference":        {"cmVmdGtu[b62:56]"},
	"sonar-user":             {"squ_[hex:40]", "sqp_[hex:40]", "sqa_[hex:40]"},
	"terraform-cloud":        {"[b62:14].atlasv1.[b64u:60-70]"},
	"sourcegraph":            {"sgp_[hex:40]", "sgp_[hex:16]_[hex:40]"},
	"circleci":               {"CCIPAT_[b58:22]_[hex:40]"},
	"buildkite":              {"bkua_[hex:40]"},
	"pulumi":                 {"pul-[hex:40]"},
	"netlify":                {"nfp_[b62:36]"},
	"vercel-token":           {"vcp_[b62:56]", "vca_[b62:56]", "vci_[b62:56]", "vcr_[b62:56]", "vck_[b62:56]"},
	"render":                 {"rnd_[b62:28-32]"},
}

var cloudTokens = map[string][]string{
	"aws-access-key-id":    {"AKIA[b32:16]", "ASIA[b32:16]", "[[default]\naws_access_key_id = AKIA[b32:16]\naws_secret_access_key = [b64:40]\n"},
	"aws-bearer-id":        {"ABIA[b32:16]", "ACCA[b32:16]"},
	"aws-session":          {"IQoJb3JpZ2lu[b64:300]", "FwoGZXIvYXdz[b64:260]="},
	"aws-bedrock":          {"ABSK[b64:130]", "ABSKQmVkcm9ja0FQSUtleS[b64:100]=", "ABSKQmVkcm9ja0FQSUtleS[b64:78]"},
	"gcp-api-key":          {"AIza[b64u:35]"},
	"gemini-key":           {"AQ.Ab8RN6[b64u:44]"},
	"google-client-secret": {"GOCSPX-[b64u:28]"},
	"google-access-token":  {"ya29.[b64u:150]"},
	"google-refresh-token": {"1//0[b64u:96]"},
	"azure-client-secret":  {"[b62:3]8Q~[az:34]", "[b62:3]7Q~[az:31]"},
	"azure-storage":        {"[b64:76]+ASt[b64:6]==", "[b64:76]ACDb[b64:6]==", "[b64:76]+ABa[b64:6]==", "[b64:76]APIM[b64:6]==", "[b64:76]+AMC[b64:6]=="},
	"azure-key":            {"[b64:33]+ASb[b64:6]=", "[b64:33]+AEh[b64:6]=", "[b64:42]+ACRB[b64:5]", "[b62:42]AzSeD[b62:5]", "[b64u:44]AzFu[b64u:6]==", "[b62:33]AzCa[b62:6]=", "[b64:33]+ARm[b64:6]=", "[b64:33]AIoT[b64:6]=", "[b64:33]AZEG[b64:6]="},
	"azure-connection": {"DefaultEndpointsProtocol=https;AccountName=[low:8];AccountKey=[b64:86]==;EndpointSuffix=core.windows.net",
		"Endpoint=sb://[low:8].servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=[b64:43]="},
	"azure-sas":            {"https://[low:8].blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sr=c&sp=rl&sig=[b62:20]%2B[b62:22]%3D"},
	"azure-devops-pat":     {"[b62:76]AZDO[b62:4]"},
	"azure-cask":           {"[b62:52]JQQJ99[b62:26]"},
	"alibaba-key":          {"LTAI5t[b62:18]"},
	"alibaba-key-id":       {"LTAI[b62:20]", "LTAI4[b62:11]"},
	"tencent-key-id":       {"AKID[b62:32]"},
	"baidu-key":            {"bce-v3/ALTAK-[b62:21]/[hex:40]"},
	"volcengine-key":       {"AKLT[b62:43]"},
	"feishu-webhook":       {"https://open.feishu.cn/open-apis/bot/v2/hook/[uuid]"},
	"wecom-webhook":        {"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=[uuid]"},
	"dingtalk-webhook":     {"https://oapi.dingtalk.com/robot/send?access_token=[hex:64]"},
	"dingtalk-sign":        {"SEC[hex:64]"},
	"digitalocean-pat":     {"dop_v1_[hex:64]"},
	"digitalocean-oauth":   {"doo_v1_[hex:64]", "dor_v1_[hex:64]"},
	"cloudflare-origin-ca": {"v1.0-[hex:24]-[hex:146]"},
	"heroku-key":           {"HRKU-AA[b64u:58]"},
	"yandex-api-key":       {"AQVN[b64u:36]"},
	"flyio":                {"fm2_[b64:160]=", "fm2_[b64:400]"},
	"flyio-access":         {"fo1_[b64u:43]"},
}

var modelTokens = map[string][]string{
	"openai-key":        {"sk-[b62:20]T3BlbkFJ[b62:20]", "sk-proj-[b64u:74]T3BlbkFJ[b64u:74]", "sk-svcacct-[b64u:58]T3BlbkFJ[b64u:58]", "sk-admin-[b64u:58]T3BlbkFJ[b64u:58]"},
	"openai-scoped":     {"sk-proj-[b64u:150]", "sk-svcacct-[b64u:110]"},
	"anthropic-api":     {"sk-ant-api03-[b64u:93]AA"},
	"anthropic-admin":   {"sk-ant-admin01-[b64u:93]AA"},
	"anthropic-oauth":   {"sk-ant-oat01-[b64u:93]AA"},
	"anthropic-refresh": {"sk-ant-ort01-[b64u:93]AA"},
	"anthropic-session": {"sk-ant-sid01-[b64u:93]AA"},
	"openrouter":        {"sk-or-v1-[hex:64]"},
	"minimax":           {"sk-api-[b64u:119]"},
	"langfuse":          {"sk-lf-[uuid]"},
	"sk-hex":            {"sk-[hex:32]"},
	"sk-key":            {"sk-[b62:48]", "sk-[b62:40]"},
	"huggingface":       {"hf_[let:34]", "api_org_[let:34]"},
	"groq":              {"gsk_[b62:52]"},
	"xai":               {"xai-[b62:80]"},
	"perplexity":        {"pplx-[b62:48]"},
	"replicate":         {"r8_[b62:37]"},
	"nvidia":            {"nvapi-[b64u:64]"},
	"cerebras":          {"csk-[b36:48]"},
	"langsmith":         {"lsv2_pt_[hex:32]_[hex:10]", "lsv2_sk_[hex:32]_[hex:10]"},
	"pinecone":          {"pcsk_[b62:6]_[b62:63]"},
	"wandb":             {"wandb_v1_[b62:77]"},
	"tavily":            {"tvly-[b62:32]", "tvly-dev-[b62:32]"},
	"firecrawl":         {"fc-[hex:32]"},
	"e2b":               {"e2b_[hex:40]"},
	"together":          {"tgp_v1_[b64u:43]"},
	"jina":              {"jina_[hex:32][b64u:28]"},
	"elevenlabs":        {"sk_[hex:48]"},
	"voyage":            {"pa-[b64u:43]"},
	"friendli":          {"flp_[b62:46]"},
	"fireworks":         {"fw_[b62:22]"},
	"mem0":              {"m0-[b62:40]"},
}

var serviceTokens = map[string][]string{
	"slack-token":     {"xoxb-[dig:12]-[dig:13]-[b62:24]", "xoxp-[dig:12]-[dig:12]-[dig:13]-[hex:32]", "xoxc-[dig:12]-[dig:12]-[dig:13]-[hex:64]"},
	"slack-cookie":    {"xoxd-[b62:60]%2B[b62:40]%3D"},
	"slack-config":    {"xoxe-1-[b64u:140]", "xoxe.xoxp-1-[b64u:160]"},
	"slack-app":       {"xapp-1-A[B36:10]-[dig:13]-[hex:64]"},
	"slack-webhook":   {"https://hooks.slack.com/services/T[B36:10]/B[B36:10]/[b62:24]"},
	"discord-bot":     {"[discord].[b64u:6].[b64u:38]", "[discord].[b64u:6].[b64u:27]"},
	"discord-webhook": {"https://discord.com/api/webhooks/1[dig:18]/[b64u:68]"},
	"telegram-bot":    {"1[dig:9]:AA[b64u:33]", "5[dig:8]:AA[b64u:33]"},
	"slack-workflow":  {"https://hooks.slack.com/workflows/T[B36:10]/A[B36:10]/[dig:18]/[b62:24]"},
	"slack-trigger":   {"https://hooks.slack.com/triggers/T[B36:10]/[dig:13]/[hex:32]"},
	"azure-workflow":  {"https://prod-12.westeurope.logic.azure.com:443/workflows/[hex:32]/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=[b64u:43]"},
	"teams-webhook":   {"https://[low:7].webhook.office.com/webhookb2/[uuid]@[uuid]/IncomingWebhook/[hex:32]/[uuid]"},

	"sendgrid":       {"SG.[b64u:22].[b64u:43]"},
	"mailgun":        {"key-[hex:32]"},
	"mailchimp":      {"[hex:32]-us[dig:1]", "[hex:32]-us1[dig:1]"},
	"brevo":          {"xkeysib-[hex:64]-[b62:16]"},
	"mailersend":     {"mlsn.[hex:64]"},
	"resend":         {"re_[b62:8]_[b62:24]"},
	"twilio-api-key": {"SK[hex:32]"},

	"stripe-live":       {"sk_live_[b62:24]", "sk_live_51[b62:97]"},
	"stripe-test":       {"sk_test_[b62:24]", "sk_test_51[b62:97]"},
	"stripe-restricted": {"rk_live_[b62:24]", "rk_test_51[b62:97]"},
	"stripe-webhook":    {"whsec_[b62:32]", "whsec_[b64:43]="},
	"square-personal":   {"EAAA[b64u:60]"},
	"square-access":     {"sq0atp-[b64u:22]"},
	"square-secret":     {"sq0csp-[b64u:43]"},
	"shopify-access":    {"shpat_[hex:32]", "shpca_[hex:32]", "shppa_[hex:32]"},
	"shopify-shared":    {"shpss_[hex:32]"},
	"braintree":         {"access_token$production$[b36:16]$[hex:32]"},
	"plaid":             {"access-production-[uuid]"},
	"easypost":          {"EZAK[b62:54]", "EZTK[b62:54]"},
	"paddle":            {"pdl_live_apikey_[b36:26]_[b62:22]_[b62:3]"},
	"polar":             {"polar_oat_[b62:43]"},
	"duffel":            {"duffel_live_[b64u:43]"},
	"live-key":          {"live_[b64u:40]", "live_[dig:9]_[b62:30]"},
	"shippo":            {"shippo_live_[hex:40]"},
	"flutterwave":       {"FLWSECK-[hex:32]-X", "FLWSECK_TEST-[hex:32]-X"},
	"facebook":          {"EAA[b62:180]"},

	"linear":                  {"lin_api_[b62:40]", "lin_oauth_[hex:64]"},
	"notion":                  {"ntn_[b62:46]"},
	"notion-legacy":           {"secret_[b62:43]"},
	"supabase-management":     {"sbp_[hex:40]"},
	"supabase-secret":         {"sb_secret_[b64u:31]"},
	"sentry-org":              {"sntrys_[sntrys]_[b64:43]"},
	"sentry-user":             {"sntryu_[hex:64]"},
	"newrelic-user":           {"NRAK-[B36:27]"},
	"newrelic-license":        {"[hex:32]FFFFNRAL"},
	"grafana-service-account": {"[glsa]"},
	"grafana-cloud":           {"glc_[b64of]"},
	"grafana-legacy":          {"[b64of]"},
	"typeform":                {"tfp_[b64u:44]_[b64u:14]"},
	"octopus":                 {"API-[B36:26]"},
	"infracost":               {"ico-[b62:32]"},
	"readme":                  {"rdme_[b36:70]"},
	"intra42":                 {"s-s4t2ud-[hex:64]"},
	"scalingo":                {"tk-us-[b64u:48]"},
	"rapidapi":                {"[hex:10]msh[hex:15]p1[hex:6]jsn[hex:12]"},
	"harness":                 {"pat.[b64u:22].[hex:24].[b62:20]"},
	"trigger-dev":             {"tr_prod_[b62:20]"},
	"maxmind":                 {"[b62:6]_[b62:29]_mmk"},
	"checkly":                 {"cu_[hex:32]"},
	"figma":                   {"figd_[b64u:40]"},
	"sourcegraph-license":     {"slk_[hex:64]"}, "figma-oauth": {"figu_[b64u:40]"}, "settlemint": {"sm_pat_[b62:16]"}, "ubidots": {"BBFF-[b62:30]"},
	"clickhouse": {"4b1d[b62:38]"}, "asana-pair": {"2/1[dig:15]/1[dig:15]:[hex:32]"},
	"airtable":             {"pat[b62:14].[hex:64]"},
	"hubspot":              {"pat-na1-[uuid]", "pat-eu1-[uuid]"},
	"postman":              {"PMAK-[hex:24]-[hex:34]"},
	"doppler":              {"dp.pt.[b62:43]", "dp.st.prd.[b62:43]"},
	"onepassword-service":  {"ops_eyJ[b64u:400]"},
	"onepassword-secret":   {"A3-[B36:6]-[B36:6]-[B36:5]-[B36:5]-[B36:5]-[B36:5]", "A3-[B36:6]-[B36:11]-[B36:5]-[B36:5]-[B36:5]"},
	"planetscale-token":    {"pscale_tkn_[b64u:43]", "pscale_oauth_[b64u:43]"},
	"planetscale-password": {"pscale_pw_[b64u:43]"},
	"neon":                 {"napi_[b36:64]"},
	"contentful":           {"CFPAT-[b64u:43]"},
	"posthog-personal":     {"phx_[b62:43]"},
	"launchdarkly":         {"api-[uuid]", "sdk-[uuid]"},
	"dynatrace":            {"dt0c01.[b32:24].[b32:64]"},
	"tailscale":            {"tskey-auth-k[b62:10]CNTRL-[b62:32]", "tskey-api-k[b62:10]CNTRL-[b62:32]"},
	"databricks":           {"dapi[hex:32]", "dapi[hex:32]-2"},
	"vault-service":        {"hvs.[b62:24]", "hvs.CAES[b64u:90]"},
	"vault-batch":          {"hvb.AAAAAQ[b64u:140]"},
	"openshift":            {"sha256~[b64u:43]"},
	"mongodb-atlas":        {"mdb_sa_sk_[b64u:40]"},
	"prefect":              {"pnu_[b62:36]"},
	"twitter-bearer":       {strings.Repeat("A", 22) + "[b62:20]%2B[b62:24]%3D[b62:50]"},
	"firebase-fcm":         {"[b64u:11]:APA91b[b64u:134]", "AAAA[b64u:7]:APA91b[b64u:134]"},
	"mapbox-secret":        {"sk.eyJ[b62:60].[b64u:22]"},
}
