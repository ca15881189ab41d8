package secrets

// modelRules are the keys of model providers and of the services around them.
func modelRules() []*rule {
	dash := fixed("-")
	return tokenRules([]tokenRow{
		{"openai-key", "OpenAI API key", list{"T3BlbkFJ"}, // "OpenAI" in base 64 stands in the middle
			token{head: parts{base64url.from(20, 110)}, tail: parts{base64url.from(20, 110)}}},
		{"openai-scoped", "OpenAI key of a project, service account or admin", list{"sk-proj-", "sk-svcacct-", "sk-admin-"},
			token{tail: parts{base64url.from(40, 250)}, edge: left, hold: mixedCase}},
		{"anthropic-api", "Anthropic API key", list{"sk-ant-api03-"}, token{tail: parts{base64url.from(80, 120)}}},
		{"anthropic-admin", "Anthropic admin key", list{"sk-ant-admin01-"}, token{tail: parts{base64url.from(80, 120)}}},
		{"anthropic-oauth", "Anthropic OAuth access token", list{"sk-ant-oat01-"}, token{tail: parts{base64url.from(80, 120)}}},
		{"anthropic-refresh", "Anthropic OAuth refresh token", list{"sk-ant-ort01-"}, token{tail: parts{base64url.from(80, 120)}}},
		{"anthropic-session", "Anthropic session key", list{"sk-ant-sid"}, token{tail: parts{digits.n(2), dash, base64url.from(80, 140)}}},
		{"openrouter", "OpenRouter API key", list{"sk-or-v1-"}, token{tail: parts{lowerHex.n(64)}}},
		{"minimax", "MiniMax API key", list{"sk-api-"}, token{tail: parts{base64url.from(90, 130)}, edge: left, hold: mixedCase}},
		{"langfuse", "Langfuse secret key", list{"sk-lf-"}, token{tail: uuid(), edge: left}},
		{"sk-hex", "API key of 32 hexadecimal digits (DeepSeek and others)", list{"sk-"}, token{tail: parts{lowerHex.n(32)}, edge: closed}},
		{"sk-key", "API key of 40 to 64 letters and digits (Moonshot and others)", list{"sk-"},
			token{tail: parts{base62.from(32, 64)}, edge: closed, hold: mixedCase}},
		{"huggingface", "Hugging Face token", list{"hf_", "api_org_"}, token{tail: parts{base62.n(34)}}},
		{"groq", "Groq API key", list{"gsk_"}, token{tail: parts{base62.n(52)}}},
		{"xai", "xAI API key", list{"xai-"}, token{tail: parts{base62.from(70, 120)}, hold: mixedCase}},
		{"perplexity", "Perplexity API key", list{"pplx-"}, token{tail: parts{base62.from(40, 56)}}},
		{"replicate", "Replicate API token", list{"r8_"}, token{tail: parts{base62.n(37)}}},
		{"nvidia", "NVIDIA API key", list{"nvapi-"}, token{tail: parts{base64url.from(60, 70)}}},
		{"cerebras", "Cerebras API key", list{"csk-"}, token{tail: parts{base62.n(48)}}},
		{"langsmith", "LangSmith API key", list{"lsv2_pt_", "lsv2_sk_"}, token{tail: parts{lowerHex.n(32), fixed("_"), lowerHex.n(10)}}},
		{"pinecone", "Pinecone API key", list{"pcsk_"}, token{tail: parts{wordChars.from(40, 90)}}},
		{"wandb", "Weights & Biases API key", list{"wandb_v1_"}, token{tail: parts{base64url.from(60, 90)}}},
		{"tavily", "Tavily API key", list{"tvly-"}, token{tail: parts{base64url.from(28, 60)}}},
		{"firecrawl", "Firecrawl API key", list{"fc-"}, token{tail: parts{lowerHex.n(32)}, edge: closed}},
		{"e2b", "E2B API key", list{"e2b_"}, token{tail: parts{lowerHex.n(40)}}},
		{"together", "Together API key", list{"tgp_v1_"}, token{tail: parts{base64url.from(40, 46)}}},
		{"jina", "Jina API key", list{"jina_"}, token{tail: parts{base64url.from(40, 80)}}},
		{"elevenlabs", "ElevenLabs API key", list{"sk_"}, token{tail: parts{lowerHex.n(48)}, edge: closed}},
		{"voyage", "Voyage AI API key", list{"pa-"}, token{tail: parts{base64url.n(43)}, edge: closed, hold: mixedCase}},
		{"friendli", "Friendli token", list{"flp_"}, token{tail: parts{base62.from(44, 48)}}},
		{"fireworks", "Fireworks API key", list{"fw_"}, token{tail: parts{base62.from(22, 24)}, edge: closed, hold: mixedCase}},
		{"mem0", "Mem0 API key", list{"m0-"}, token{tail: parts{base62.n(40)}, edge: closed}},
	})
}
