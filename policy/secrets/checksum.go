package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math/big"
)

// Checksums that issuers put into their tokens. One that fits makes a finding
// certain; one that does not changes nothing, because a folded look-alike may
// have replaced a character.

const base62Digits = numerals + uppers + lowers

// crcBase62 is GitHub's and npm's: behind the prefix 30 random characters and
// their CRC-32 as six base-62 digits.
// See https://github.blog/engineering/behind-githubs-new-authentication-token-formats/.
func crcBase62(token []byte) bool {
	if len(token) < 36 {
		return false
	}
	body, sum := token[len(token)-36:len(token)-6], token[len(token)-6:]
	crc := crc32.ChecksumIEEE(body)
	for i := len(sum) - 1; i >= 0; i-- {
		if sum[i] != base62Digits[crc%62] {
			return false
		}
		crc /= 62
	}
	return true
}

// crcHex is Atlassian's: the last eight characters are the CRC-32 of all
// before them, in upper-case hexadecimal.
func crcHex(token []byte) bool {
	body, sum := splitLast(token, 8)
	var crc [4]byte
	binary.BigEndian.PutUint32(crc[:], crc32.ChecksumIEEE(body))
	return len(body) > 0 && string(bytes.ToUpper([]byte(hex.EncodeToString(crc[:])))) == string(sum)
}

// crcGrafana is the CRC-32 of all before the last underscore, little-endian,
// in hexadecimal.
func crcGrafana(token []byte) bool {
	body, sum := splitLast(token, 8)
	if len(body) == 0 {
		return false
	}
	var crc [4]byte
	binary.LittleEndian.PutUint32(crc[:], crc32.ChecksumIEEE(body[:len(body)-1]))
	return hex.EncodeToString(crc[:]) == string(sum)
}

func splitLast(token []byte, n int) (body, last []byte) {
	if len(token) < n {
		return nil, token
	}
	return token[:len(token)-n], token[len(token)-n:]
}

// crcNKey is the checksum of a NATS key: CRC-16/XMODEM of the decoded bytes,
// little-endian in the last two.
func crcNKey(token []byte) bool {
	raw := make([]byte, base32.StdEncoding.WithPadding(base32.NoPadding).DecodedLen(len(token)))
	n, err := base32.StdEncoding.WithPadding(base32.NoPadding).Decode(raw, token)
	if err != nil || n < 3 {
		return false
	}
	var crc uint16
	for _, b := range raw[:n-2] {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return crc == binary.LittleEndian.Uint16(raw[n-2:n])
}

// bech32Sum is the checksum of an age identity (BIP 173).
func bech32Sum(token []byte) bool {
	token = bytes.ToLower(token)
	one := bytes.LastIndexByte(token, '1')
	if one < 1 {
		return false
	}
	sum := uint32(1)
	for _, c := range token[:one] {
		sum = bech32Step(sum, c>>5)
	}
	sum = bech32Step(sum, 0)
	for _, c := range token[:one] {
		sum = bech32Step(sum, c&31)
	}
	for _, c := range token[one+1:] {
		v := bytes.IndexByte([]byte("qpzry9x8gf2tvdw0s3jn54khce6mua7l"), c)
		if v < 0 {
			return false
		}
		sum = bech32Step(sum, byte(v))
	}
	return sum == 1
}

func bech32Step(sum uint32, v byte) uint32 {
	top := sum >> 25
	sum = sum&0x1ffffff<<5 ^ uint32(v)
	for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 != 0 {
			sum ^= g
		}
	}
	return sum
}

const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// wifSum is the checksum of a Bitcoin key in wallet import format: the first
// four bytes of a double SHA-256 over a version byte, the key and a marker.
func wifSum(token []byte) bool {
	n := new(big.Int)
	for _, c := range token {
		v := bytes.IndexByte([]byte(base58Digits), c)
		if v < 0 {
			return false
		}
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(v)))
	}
	raw := n.Bytes()
	if len(raw) != 37 && len(raw) != 38 {
		return false
	}
	body, sum := splitLast(raw, 4)
	once := sha256.Sum256(body)
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], sum)
}
