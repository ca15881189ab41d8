package secrets

import (
	"bytes"
	"slices"
)

// documented holds example credentials that vendors and standards print in
// their documentation. They open nothing. They are put together here so that
// no scanner, this one included, stumbles over the source.
var documented = [][]byte{
	[]byte("wJalrXUtnFEMI/" + "K7MDENG/" + "bPxRfiCY" + awsExample + "KEY"),
	[]byte("je7MtGbClwBF/" + "2Zp9Utk/" + "h3yCo8nvb" + awsExample + "KEY"),
	// The signatures of the tokens that jwt.io has shown over the years.
	[]byte("SflKxwRJSMeKKF2QT4fw" + "pMeJf36POk6yJV_" + "adQssw5c"),
	[]byte("KMUFsIDTnFmyG3nMiGM6" + "H9FNFUROf3wh7Sm" + "qJp-QV30"),
	[]byte("TJVA95OrM7E2cBab30RM" + "HrHDcEfxjoYZgeF" + "ONFh7HgQ"),
	[]byte("QWxhZGRpbjpvcGVu" + "IHNlc2FtZQ=="), // RFC 7617
	[]byte("czZCaGRSa3F0Mzpn" + "WDFmQmF0M2JW"), // RFC 6749
}

// awsExample ends the access key ids that Amazon prints. Ids are issued, not
// chosen: a real one ends so once in 32 to the seventh power.
const awsExample = "EXAMPLE"

// beginsDocumented is isDocumented where the next line runs into the value.
func beginsDocumented(secret []byte) bool {
	value := secret
	if dot := bytes.LastIndexByte(secret, '.'); dot > 0 && bytes.HasPrefix(secret, []byte("eyJ")) {
		value = secret[dot+1:]
	}
	return slices.ContainsFunc(documented, func(d []byte) bool { return bytes.HasPrefix(value, d) })
}

// isDocumented goes by exact values only: words such as "example" around or
// inside a value excuse nothing.
func isDocumented(secret []byte) bool {
	value := secret
	if dot := bytes.LastIndexByte(secret, '.'); dot > 0 && bytes.HasPrefix(secret, []byte("eyJ")) {
		value = secret[dot+1:] // a token's signature holds for no other token
	}
	for _, d := range documented {
		if bytes.Equal(value, d) {
			return true
		}
	}
	return len(secret) == 20 && bytes.HasSuffix(secret, []byte(awsExample)) &&
		(bytes.HasPrefix(secret, []byte("AKIA")) || bytes.HasPrefix(secret, []byte("ASIA")))
}
