package secrets

// forgeRules are the tokens of code forges, package registries and build
// services. Formats are those of the issuers' documentation; where there is
// none, of tokens in the field.
func forgeRules() []*rule {
	gitlab := parts{base64url.n(20)}
	github := token{tail: parts{base62.n(36)}, sum: crcBase62}
	return tokenRules([]tokenRow{
		{"github-pat", "GitHub personal access token", list{"ghp_"}, github},
		{"github-oauth", "GitHub OAuth token", list{"gho_"}, github},
		{"github-app-user", "GitHub app token of a user", list{"ghu_"}, github},
		{"github-app-server", "GitHub app token of an installation", list{"ghs_"}, github},
		{"github-refresh", "GitHub refresh token", list{"ghr_"}, github},
		{"github-fine-grained", "GitHub fine-grained token", list{"github_pat_"},
			token{tail: parts{base62.n(22), fixed("_"), base62.n(59)}}},
		{"gitlab-pat", "GitLab personal access token", list{"glpat-"}, token{tail: gitlab}},
		{"gitlab-pat-routable", "GitLab routable access token", list{"glpat-"},
			token{tail: parts{base64url.from(27, 300), fixed("."), base36.n(2), fixed("."), base36.n(9)}}},
		{"gitlab-runner", "GitLab runner token", list{"glrt-"}, token{tail: gitlab}},
		{"gitlab-registration", "GitLab runner registration token", list{"GR1348941"}, token{tail: gitlab}},
		{"gitlab-deploy", "GitLab deploy token", list{"gldt-"}, token{tail: gitlab}},
		{"gitlab-other", "GitLab token of another kind", list{"glcbt-", "glptt-", "glsoat-", "gloas-", "glimt-", "glft-", "glagent-", "glffct-"},
			token{tail: parts{base64url.from(20, 70)}}},
		{"bitbucket-app-password", "Bitbucket app password", list{"ATBB"},
			token{tail: parts{base62.n(24), upperHex.n(8)}, sum: crcHex}},
		{"atlassian", "Atlassian API token", list{"ATATT3", "ATCTT3"},
			token{tail: parts{base64url.from(100, 300), fixed("="), upperHex.n(8)}, sum: crcHex}},
		{"npm-token", "npm access token", list{"npm_"}, github},
		{"pypi-token", "PyPI upload token", list{"pypi-AgE"}, token{tail: parts{base64url.from(60, 1000)}}},
		{"rubygems", "RubyGems API key", list{"rubygems_"}, token{tail: parts{lowerHex.n(48)}}},
		{"crates-io", "crates.io token", list{"cio"}, token{tail: parts{base62.n(32)}, edge: closed, hold: mixedCase}},
		{"nuget", "NuGet API key", list{"oy2"}, token{tail: parts{base36.n(43)}, edge: closed}},
		{"clojars", "Clojars deploy token", list{"CLOJARS_"}, token{tail: parts{base62.n(60)}}},
		{"docker-pat", "Docker Hub personal access token", list{"dckr_pat_"}, token{tail: parts{base64url.n(27)}}},
		{"docker-oat", "Docker Hub organization token", list{"dckr_oat_"}, token{tail: parts{base64url.n(32)}}},
		{"docker-swarm", "Docker Swarm join or unlock key", list{"SWMTKN-1-", "SWMKEY-1-"},
			token{tail: parts{alphabetOf(numerals+lowers+uppers+"+/-").from(40, 90)}}},
		{"jfrog-api-key", "Artifactory API key", list{"AKCp"}, token{tail: parts{base62.from(67, 70)}}},
		{"jfrog-reference", "Artifactory reference token", list{"cmVmdGtu"}, token{tail: parts{base62.from(44, 64)}}},
		{"sonar-user", "SonarQube token", list{"squ_", "sqp_", "sqa_"}, token{tail: parts{lowerHex.n(40)}}},
		{"terraform-cloud", "Terraform Cloud token", list{".atlasv1."},
			token{head: parts{base62.n(14)}, tail: parts{base64url.from(60, 70)}}},
		{"sourcegraph", "Sourcegraph access token", list{"sgp_"},
			token{tail: parts{alphabetOf(numerals+"abcdef_local").from(40, 64)}, hold: manyDigits}},
		{"circleci", "CircleCI token", list{"CCIPAT_"}, token{tail: parts{base62.from(20, 24), fixed("_"), lowerHex.n(40)}}},
		{"buildkite", "Buildkite token", list{"bkua_"}, token{tail: parts{lowerHex.n(40)}}},
		{"pulumi", "Pulumi access token", list{"pul-"}, token{tail: parts{lowerHex.n(40)}, edge: left}},
		{"netlify", "Netlify token", list{"nfp_"}, token{tail: parts{base62.from(36, 44)}}},
		{"vercel-token", "Vercel token", list{"vcp_", "vca_", "vci_", "vcr_", "vck_"}, token{tail: parts{base62.from(52, 60)}}},
		{"render", "Render API key", list{"rnd_"}, token{tail: parts{base62.from(28, 32)}}},
	})
}

// mixedCase asks for letters of both cases and for digits, or a case that
// switches all the time, as random characters have them.
func mixedCase(token []byte) bool {
	return lower.count(token) > 0 && upper.count(token) > 0 && (digits.count(token) > 0 || switchesCase(token))
}

func manyDigits(token []byte) bool { return digits.count(token) >= 8 }
