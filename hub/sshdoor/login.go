package sshdoor

import (
	"crypto/ed25519"
	"errors"

	gliderssh "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// keyExtension is where the permissions of a connection hold the key that
// logged in.
const keyExtension = "cairn-key"

var errDenied = errors.New("permission denied")

// maxBanners bounds how many keys of one connection are named as unknown.
const maxBanners = 3

// algorithms are the kinds of key that may be offered. Only ed25519 keys can
// be devices; the others are here so that they can be refused by name.
var algorithms = []string{
	gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519,
	gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521, gossh.KeyAlgoSKECDSA256,
	gossh.KeyAlgoRSASHA256, gossh.KeyAlgoRSASHA512,
}

// config is the login of one connection: public keys, nothing else.
func (d *Door) config(ctx gliderssh.Context) *gossh.ServerConfig {
	v := visitorOf(ctx)
	return &gossh.ServerConfig{
		PublicKeyAuthAlgorithms: algorithms,
		PreAuthConnCallback:     func(pre gossh.ServerPreAuthConn) { v.pre = pre },
		VerifiedPublicKeyCallback: func(_ gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string) (*gossh.Permissions, error) {
			return d.loggedIn(v, key)
		},
	}
}

// offer answers a key that the client says it has. What is refused here is
// told as a banner, which ssh prints before its own "permission denied".
//
// It has to be set as the PublicKeyHandler: without one the library lets
// everybody in without any login.
func (d *Door) offer(ctx gliderssh.Context, key gliderssh.PublicKey) bool {
	p := d.judge(key)
	if p == nil {
		return true
	}
	v := visitorOf(ctx)
	if n := v.refused; v.pre != nil && n < maxBanners {
		v.refused++
		// A client that is gone is found out by the next read.
		_ = v.pre.SendAuthBanner(tell(p))
	}
	return false
}

// loggedIn runs once the client has signed with key. Only now it counts.
func (d *Door) loggedIn(v *visitor, key gossh.PublicKey) (*gossh.Permissions, error) {
	if p := d.judge(key); p != nil {
		return nil, &gossh.BannerError{Err: errDenied, Message: tell(p)}
	}
	public, _ := ed25519Of(key)
	if d.connectionsOf(public) >= d.limits.PerKey {
		p := problem.New(problem.Busy, "this key has too many connections at this hub")
		return nil, &gossh.BannerError{Err: errDenied, Message: tell(p)}
	}
	if !v.welcome() {
		return nil, errDenied
	}
	return &gossh.Permissions{Extensions: map[string]string{keyExtension: string(public)}}, nil
}

// judge is why key may not log in, or nil.
func (d *Door) judge(key gossh.PublicKey) *problem.Problem {
	public, ok := ed25519Of(key)
	if !ok {
		return errNotEd25519(gossh.FingerprintSHA256(key))
	}
	who, err := d.lookup(public)
	if err != nil {
		d.log.Error("look up a key", "err", err)
		return errMembers
	}
	return refusal(who, hubwire.Fingerprint(public))
}

// ed25519Of is the key itself; false for certificates and all other kinds.
func ed25519Of(key gossh.PublicKey) (ed25519.PublicKey, bool) {
	crypto, ok := key.(gossh.CryptoPublicKey)
	if !ok || key.Type() != gossh.KeyAlgoED25519 {
		return nil, false
	}
	public, ok := crypto.CryptoPublicKey().(ed25519.PublicKey)
	return public, ok
}
