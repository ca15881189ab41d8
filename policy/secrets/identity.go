package secrets

import (
	"bytes"
	"net/netip"
	"regexp"
	"strings"
)

// isIdentity reports values that name or measure something and open nothing,
// whatever stands beside them: identifiers, digests, versions, moments,
// addresses, paths.
func isIdentity(value []byte) bool {
	return isPublic(value) || isPublicKey(value) || isUUID(value) || isULID(value) || isDigest(value) || isMoment(value) || isAddress(value) || region.Match(value)
}

// isPublicKey reports the public half of a NATS key, whose checksum fits, and
// that of an age identity.
func isPublicKey(value []byte) bool {
	return len(value) == 56 && strings.IndexByte("UANOCX", value[0]) >= 0 && base32std.holdsAll(value) && crcNKey(value) ||
		len(value) == 62 && bytes.HasPrefix(value, []byte("age1")) && bech32.holdsAll(value[4:])
}

// isPublic reports keys that are made to stand in web pages and apps: of
// Stripe, Mapbox, PostHog, Supabase and Datadog.
func isPublic(value []byte) bool {
	for _, p := range []string{"pk_live_", "pk_test_", "pk.eyJ", "phc_", "sb_publishable_"} {
		if bytes.HasPrefix(value, []byte(p)) {
			return true
		}
	}
	return len(value) == 35 && bytes.HasPrefix(value, []byte("pub")) && lowerHex.holdsAll(value[3:])
}

func isUUID(value []byte) bool {
	value = bytes.TrimPrefix(value, []byte("urn:uuid:"))
	at := 0
	for _, p := range uuid() {
		var ok bool
		if at, ok = p.after(value, at); !ok {
			return false
		}
	}
	return at == len(value)
}

var crockford = alphabetOf("0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ")

// isULID takes the alphabet, the length, and a first digit that a time has.
func isULID(value []byte) bool {
	return len(value) == 26 && crockford.holdsAll(value) && (value[0] == '0' || value[0] == '1') &&
		(lower.count(value) == 0 || upper.count(value) == 0)
}

// digestPrefixes say which hash a value is. See the Subresource Integrity
// recommendation, "go help modules" and the OCI image specification.
var digestPrefixes = []string{"sha256-", "sha384-", "sha512-", "sha1-", "sha256:", "sha384:", "sha512:", "sha1:", "md5:", "h1:", "blake3:", "SHA256:", "MD5:"}

func isDigest(value []byte) bool {
	if image, digest, ok := bytes.Cut(value, []byte("@sha256:")); ok {
		return imageName.Match(image) && len(digest) == 64 && lowerHex.holdsAll(digest)
	}
	for _, p := range digestPrefixes {
		if bytes.HasPrefix(value, []byte(p)) && base64any.count(value)+bytes.Count(value, []byte(":")) == len(value) {
			return true
		}
	}
	return false
}

// isBareHash reports a value that may be a digest or a commit id and says so
// by its length alone.
func isBareHash(value []byte) bool {
	value = bytes.TrimPrefix(value, []byte("0x"))
	switch len(value) {
	case 7, 8, 12, 32, 40, 56, 64, 96, 128:
		return anyHex.holdsAll(value) && digits.count(value) > 0
	}
	return false
}

var (
	moment  = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$`)
	version = regexp.MustCompile(`^[@\w./-]*[@=: v]?v?\d+\.\d+(\.\d+)*([-+.][0-9A-Za-z.+-]*)?$`)
	region  = regexp.MustCompile(`^[a-z]{2}(-gov)?-(north|south|east|west|central|northeast|northwest|southeast|southwest)-\d$`)
	// imageName is a reference of the OCI distribution specification, its tag
	// included.
	imageName = regexp.MustCompile(`^[a-z0-9]+([._:/-]+[a-z0-9]+)*(:[\w][\w.-]{0,127})?$`)
	mail      = regexp.MustCompile(`^[\w.+-]+@[\w-]+(\.[\w-]+)+$`)
)

func isMoment(value []byte) bool {
	return moment.Match(value) || len(value) <= 60 && version.Match(value)
}

// maxIP is the length of the longest address of a host with a zone and a port.
const maxIP = 80

// isAddress reports addresses of hosts, mailboxes and pages, and paths of
// files. Logins inside URLs are another rule's matter.
func isAddress(value []byte) bool {
	s := string(value)
	if len(s) <= maxIP {
		if _, err := netip.ParseAddr(s); err == nil {
			return true
		}
		if _, err := netip.ParseAddrPort(s); err == nil {
			return true
		}
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok && base62.holdsAll([]byte(scheme)) {
		return !strings.Contains(rest, "@")
	}
	return mail.MatchString(s) || isPath(value)
}

// isPath reports at least two words with slashes between, or one behind a
// root: base 64 has slashes, too, but no words.
func isPath(value []byte) bool {
	slashes := bytes.Count(value, []byte("/")) + bytes.Count(value, []byte(`\`))
	rooted := bytes.HasPrefix(value, []byte("/")) || bytes.HasPrefix(value, []byte("./")) || bytes.HasPrefix(value, []byte("~/"))
	return (slashes > 1 || slashes > 0 && (rooted || wordShare(value) > 0.7)) && wordShare(value) > 0.5
}
