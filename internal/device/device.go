package device

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/crypto/ssh"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
)

// A Key is the private key of a device. Printing it shows only the device.
type Key struct{ private ed25519.PrivateKey }

// ErrNoKey means that there is no key file. A home without one has not been
// made yet.
var ErrNoKey = errors.New("the device has no key")

// A BadKeyError reports a key file that cannot be used. Restore it from a
// backup, or remove it to become a new device.
type BadKeyError struct{ Path string }

func (e *BadKeyError) Error() string {
	return e.Path + " is not an unencrypted ed25519 OpenSSH key: restore it, or remove it to become a new device"
}

// Load reads the key at path. Errors: ErrNoKey, *BadKeyError, or one of the
// file system.
func Load(fsys disk.FS, path string) (Key, error) {
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, ErrNoKey
	}
	if err != nil {
		return Key{}, err
	}
	raw, err := ssh.ParseRawPrivateKey(b)
	if err != nil {
		return Key{}, &BadKeyError{Path: path}
	}
	key, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		return Key{}, &BadKeyError{Path: path}
	}
	return Key{*key}, nil
}

// Create makes a new key at path, readable by its owner only. The caller
// holds a lock that keeps a second process from doing the same.
func Create(fsys disk.FS, path string) (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("make a device key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "cairn")
	if err != nil {
		return Key{}, fmt.Errorf("encode the device key: %w", err)
	}
	if err := atomicfile.Write(fsys, path, pem.EncodeToMemory(block), 0o600); err != nil {
		return Key{}, fmt.Errorf("store the device key: %w", err)
	}
	return Key{private}, nil
}

// FromPrivate is the key with the given private half.
func FromPrivate(private ed25519.PrivateKey) Key { return Key{private} }

// Public is the public half.
func (k Key) Public() ed25519.PublicKey { return k.private.Public().(ed25519.PublicKey) }

// ID is the device's id.
func (k Key) ID() event.DeviceID { return event.DeviceOf(k.Public()) }

// Sign returns e with its device and signature filled in.
func (k Key) Sign(e event.Event) (event.Event, error) {
	e.Actor.Device = k.ID()
	return event.Sign(e, k.private)
}

// SignBytes is the raw signature over b. The caller puts a prefix into b that
// names its purpose.
func (k Key) SignBytes(b []byte) []byte { return ed25519.Sign(k.private, b) }

// SSH is the key for a login.
func (k Key) SSH() (ssh.Signer, error) { return ssh.NewSignerFromKey(k.private) }

// String is the device's id, never the key.
func (k Key) String() string { return string(k.ID()) }

// GoString is String, for %#v.
func (k Key) GoString() string { return k.String() }
