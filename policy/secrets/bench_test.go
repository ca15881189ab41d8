package secrets_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"cairn/policy/secrets"
)

// note is a kilobyte of prose about tokens, the worst case for names.
var note = strings.Repeat("The session token is rotated by the service; a client keeps its secret key in the vault and never in a password field. ", 9)[:1000]

func BenchmarkNote(b *testing.B) {
	benchmark(b, []byte("{\n \"kind\": \"observe\",\n \"payload\": {\n  \"content\": \""+note+"\"\n }\n}\n"))
}

func BenchmarkChineseNote(b *testing.B) {
	benchmark(b, []byte(strings.Repeat("我们决定用缓存保存会话，令牌由服务轮换，密码从不写入日志。", 12)))
}

func BenchmarkMegabyteOfNotes(b *testing.B) {
	benchmark(b, []byte(strings.Repeat(note+"\n", 1<<20/1001)))
}

func BenchmarkMegabyteOfBase64(b *testing.B) {
	raw := make([]byte, 3<<18)
	r := seeded(7)
	for i := range raw {
		raw[i] = byte(r.UintN(256))
	}
	benchmark(b, []byte(base64.StdEncoding.EncodeToString(raw)))
}

func benchmark(b *testing.B, text []byte) {
	s := secrets.New()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Scan(text)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		secrets.Compile()
	}
}

// BenchmarkWorst reads a megabyte of what was found to cost most among some
// hundreds of short texts, each over and over.
func BenchmarkWorst(b *testing.B) {
	for _, seed := range []string{
		"%2541eyJapassword=a;", "apiKey=a;shpat_A1b2C3d4", "Zq3token|dop_v1_", "mnemonic:=password, ", "auth\tPRIVATE_KEY\n", "mnemonic=x&pwd=x&://A1b2C3d4",
		"key-a", "=41secret, ", "E\nA\nA\nA\n", "password=",
	} {
		b.Run(strings.ReplaceAll(seed, "\n", "↵"), func(b *testing.B) {
			benchmark(b, []byte(strings.Repeat(seed, 1<<20/len(seed))))
		})
	}
}
