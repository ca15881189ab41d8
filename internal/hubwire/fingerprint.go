package hubwire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Fingerprint is how ssh prints the key: SHA256: and the hash of the key's
// wire form (RFC 8709) in base 64.
func Fingerprint(key ed25519.PublicKey) string {
	const algorithm = "ssh-ed25519"
	wire := binary.BigEndian.AppendUint32(nil, uint32(len(algorithm)))
	wire = append(wire, algorithm...)
	wire = binary.BigEndian.AppendUint32(wire, uint32(len(key)))
	wire = append(wire, key...)
	sum := sha256.Sum256(wire)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
