package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"cairn/internal/config"
	"cairn/internal/disk"
)

func TestAConfigurationReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if _, err := config.Load(disk.OS, path); !errors.Is(err, config.ErrNone) {
		t.Fatalf("before: %v", err)
	}
	want := config.Config{Version: config.Version, Name: "laptop", Hub: &config.Hub{ID: "x", Address: "h:1", Fingerprint: "f"},
		Remotes: []config.Remote{{Space: "team", Name: "origin", URL: "/srv/team.git"}}, Durability: config.DurableInProcess}
	if err := config.Save(disk.OS, path, want); err != nil {
		t.Fatal(err)
	}
	if got, err := config.Load(disk.OS, path); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, %v", got, err)
	}
}

func TestAFileOfAnotherKindIsNamedAndLeft(t *testing.T) {
	for name, content := range map[string]string{
		"not JSON":      "hello",
		"empty":         "",
		"newer version": `{"version": 2}`,
		"newer member":  `{"version": 1, "shiny": true}`,
		"no durability": `{"version": 1, "durability": "none"}`,
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(disk.OS, path)
		if _, ok := errors.AsType[*config.BadError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
