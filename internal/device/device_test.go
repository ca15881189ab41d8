package device_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event/eventtest"
)

func TestAKeyIsMadeOnceAndReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device_key")
	if _, err := device.Load(disk.OS, path); !errors.Is(err, device.ErrNoKey) {
		t.Fatalf("before: %v", err)
	}
	made, err := device.Create(disk.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := device.Load(disk.OS, path)
	if err != nil || read.ID() != made.ID() {
		t.Fatalf("read %v, %v", read, err)
	}
	signed, err := read.Sign(eventtest.Note("x"))
	if err != nil || signed.Verify() != nil || signed.Actor.Device != made.ID() {
		t.Fatalf("signed by %s: %v, %v", signed.Actor.Device, err, signed.Verify())
	}
}

func TestAKeyNeverPrintsItself(t *testing.T) {
	k := device.FromPrivate(eventtest.Key("laptop"))
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, k); got != string(k.ID()) {
			t.Errorf("%s prints %q", format, got)
		}
	}
}

func TestAnUnusableKeyFileIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device_key")
	if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := device.Load(disk.OS, path)
	if _, ok := errors.AsType[*device.BadKeyError](err); !ok {
		t.Fatalf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "garbage" {
		t.Fatalf("the file is now %q, %v", b, err)
	}
}
