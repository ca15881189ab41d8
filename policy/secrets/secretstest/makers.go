package secretstest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"math/rand/v2"
	"strings"
)

// makers are the holes that are more than characters of a set.
var makers map[string]func(*rand.Rand) string

func init() { // here, because the makers use templates themselves
	makers = map[string]func(*rand.Rand) string{
		"uuid":     func(r *rand.Rand) string { return fill(r, "[hex:8]-[hex:4]-4[hex:3]-a[hex:3]-[hex:12]") },
		"github":   githubTail,
		"atbb":     func(r *rand.Rand) string { return withCRC(fill(r, "ATBB[b62:24]")) },
		"atatt":    func(r *rand.Rand) string { return withCRC(fill(r, "ATATT3[b64u:160-180]=")) },
		"glsa":     grafana,
		"password": password,
		"der":      func(r *rand.Rand) string { return lines(der(r, 1190), 64, "\n") },
		"derline":  func(r *rand.Rand) string { return lines(der(r, 1190), 64, `\n`) },
		"dershort": func(r *rand.Rand) string { return lines(der(r, 150), 64, "\n") },
		"pemb64":   func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString([]byte(fill(r, pem("RSA ")))) },
		"login": func(r *rand.Rand) string {
			return base64.StdEncoding.EncodeToString([]byte(fill(r, "[low:6]:[password]")))
		},
		"pw64":  func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString([]byte(password(r))) },
		"age":   age,
		"nkey":  natsSeed,
		"wif":   bitcoinKey,
		"jwt":   func(r *rand.Rand) string { return jwt(r, `{"sub":"[dig:8]","iat":17[dig:8]}`) },
		"srjwt": func(r *rand.Rand) string { return jwt(r, `{"iss":"supabase","role":"service_role","iat":17[dig:8]}`) },
		"b64of": func(r *rand.Rand) string {
			return base64.RawURLEncoding.EncodeToString([]byte(fill(r, `{"k":"[b62:32]","n":"[low:8]","id":1}`)))
		},
		"sntrys": func(r *rand.Rand) string {
			return base64.StdEncoding.EncodeToString([]byte(fill(r, `{"iat":17[dig:8].[dig:6],"url":"https://sentry.io","org":"[low:6]"}`)))
		},
		"discord": func(r *rand.Rand) string { return base64.RawURLEncoding.EncodeToString([]byte(fill(r, "1[dig:17]"))) },
		"words":   func(r *rand.Rand) string { return seedWords(r) },
		"wordnumber": func(r *rand.Rand) string {
			return pick(r, []string{"Harbor", "Lantern", "silverRiver", "Copper", "quietMeadow"}) + fill(r, "[dig:1]7[dig:2]") + pick(r, []string{"", "!", "*"})
		},
		"gibberish": func(r *rand.Rand) string { return random(r, "bcdfghjklmnpqrstvwxz", 20) },
	}
}

// githubTail is 30 random characters and their CRC-32 in base 62.
func githubTail(r *rand.Rand) string {
	const digits = numerals + uppers + lowers
	body := fill(r, "[b62:30]")
	sum := make([]byte, 6)
	for crc, i := crc32.ChecksumIEEE([]byte(body)), 5; i >= 0; i-- {
		sum[i] = digits[crc%62]
		crc /= 62
	}
	return body + string(sum)
}

// withCRC appends the CRC-32 of all before it.
func withCRC(body string) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body)))
	return body + strings.ToUpper(hex.EncodeToString(sum))
}

func grafana(r *rand.Rand) string {
	body := fill(r, "glsa_[b62:32]")
	return body + "_" + hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

// password is one that a program or a careful person makes: characters of all
// four kinds.
func password(r *rand.Rand) string {
	sets := []string{lowers, uppers, numerals, "!#%*+-=?_"}
	b := make([]byte, 10+r.IntN(9))
	for i, at := range r.Perm(len(b)) {
		set := sets[min(i, 3)]
		if i > 3 {
			set = lowers + uppers + numerals
		}
		b[at] = set[r.IntN(len(set))]
	}
	if strings.IndexByte(sets[3], b[0]) >= 0 || strings.IndexByte(sets[3], b[len(b)-1]) >= 0 {
		return password(r)
	}
	return string(b)
}

// der looks like an encoded key: a long sequence of random numbers.
func der(r *rand.Rand, n int) string {
	raw := append([]byte{0x30, 0x82, byte(n >> 8), byte(n), 2, 1, 0}, randomBytes(r, n)...)
	return base64.StdEncoding.EncodeToString(raw)
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.UintN(256))
	}
	return b
}

func lines(s string, width int, end string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + end)
		s = s[width:]
	}
	return b.String() + s
}

// pem is a template of a whole key in PEM form.
func pem(kind string) string {
	label := kind + "PRIVATE" + " KEY-----"
	return "-----BEGIN " + label + "\n[der]\n-----END " + label + "\n"
}

const bech32Digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// age is an age identity: bech32 of 32 bytes with its checksum (BIP 173).
func age(r *rand.Rand) string {
	const human = "age-secret-key-"
	var data []byte
	var acc, bits uint
	for _, b := range randomBytes(r, 32) {
		acc, bits = acc<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			data = append(data, byte(acc>>bits&31))
		}
	}
	data = append(data, byte(acc<<(5-bits)&31))
	values := []byte{}
	for _, c := range []byte(human) {
		values = append(values, c>>5)
	}
	values = append(values, 0)
	for _, c := range []byte(human) {
		values = append(values, c&31)
	}
	sum := polymod(append(append(values, data...), 0, 0, 0, 0, 0, 0)) ^ 1
	for i := range 6 {
		data = append(data, byte(sum>>(5*(5-i))&31))
	}
	out := human + "1"
	for _, v := range data {
		out += bech32Digits[v : v+1]
	}
	return strings.ToUpper(out)
}

func polymod(values []byte) uint32 {
	sum := uint32(1)
	for _, v := range values {
		top := sum >> 25
		sum = sum&0x1ffffff<<5 ^ uint32(v)
		for i, g := range []uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= g
			}
		}
	}
	return sum
}

// natsSeed is the seed of a NATS user with its CRC-16.
func natsSeed(r *rand.Rand) string {
	raw := append([]byte{18<<3 | 20<<3>>5, 20 << 3 & 31 << 3}, randomBytes(r, 32)...)
	var crc uint16
	for _, b := range raw {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	raw = binary.LittleEndian.AppendUint16(raw, crc)
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)
}

// bitcoinKey is a private key in wallet import format.
func bitcoinKey(r *rand.Rand) string {
	raw := append([]byte{0x80}, randomBytes(r, 32)...)
	if r.IntN(2) == 0 {
		raw = append(raw, 1)
	}
	once := sha256.Sum256(raw)
	twice := sha256.Sum256(once[:])
	n := new(big.Int).SetBytes(append(raw, twice[:4]...))
	var out []byte
	for digit := new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), digit)
		out = append([]byte{sets["b58"][digit.Int64()]}, out...)
	}
	return string(out)
}

func jwt(r *rand.Rand, payload string) string {
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		enc.EncodeToString([]byte(fill(r, payload))) + "." + enc.EncodeToString(randomBytes(r, 32))
}

// seedWords are words of the length that wallets use; which ones matters not.
func seedWords(r *rand.Rand) string {
	words := strings.Fields(`abandon ability absorb abstract acoustic actress adapt advice aerobic afford airport alcohol
		amateur anchor animal antique arctic armor artist athlete attract balcony banana barrel bicycle blanket blossom bonus
		bracket bronze cabbage cactus canyon carbon casino cereal chapter cherry clinic cluster coconut cradle cricket crystal`)
	picked := make([]string, 12+12*r.IntN(2))
	for i := range picked {
		picked[i] = pick(r, words)
	}
	return strings.Join(picked, " ")
}

// Gzip compresses a text.
func Gzip(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text) // a bytes.Buffer takes everything
	w.Close()
	return b.Bytes()
}
