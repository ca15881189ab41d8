package hook

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"cairn/hub/policies"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/roster"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// Options reads the files.
func (s Setup) Options(fsys disk.FS, now func() time.Time) (Options, error) {
	o := Options{FS: fsys, Space: s.Space, Now: now, Limits: repository.Limits{Whole: defaultTimeout}}
	if err := s.sound(); err != nil {
		return o, err
	}
	if s.Timeout != "" {
		whole, err := time.ParseDuration(s.Timeout)
		if err != nil || whole <= 0 {
			return o, usage("the timeout is no duration such as 10m")
		}
		o.Limits.Whole = whole
	}
	var err error
	if o.Keys, err = s.keys(fsys); err != nil {
		return o, err
	}
	hub, err := s.hub(fsys)
	if err != nil {
		return o, err
	}
	var of event.ID
	if o.Members, of, err = s.members(fsys, hub); err != nil {
		return o, err
	}
	o.Policy, err = s.policy(fsys, hub, of, now)
	return o, err
}

// keys is nil if no list is named.
func (s Setup) keys(fsys disk.FS) (map[event.DeviceID]bool, error) {
	if s.Keys == "" {
		return nil, nil
	}
	list, err := readMost(fsys, s.Keys, roster.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read the list of keys: %w", err)
	}
	return ParseKeys(list)
}

// hub is the key of the hub whose signatures count; nil if none is named.
func (s Setup) hub(fsys disk.FS) (ed25519.PublicKey, error) {
	if s.HubKey == "" {
		return nil, nil
	}
	b, err := readMost(fsys, s.HubKey, maxSetup)
	if err != nil {
		return nil, fmt.Errorf("read the hub's key: %w", err)
	}
	key, ok := publicKey(bytes.TrimSpace(b))
	if !ok {
		return nil, usage("the file of the hub's key is not one public key, as ssh-keygen -y -f host_key prints it")
	}
	return key, nil
}

func publicKey(line []byte) (ed25519.PublicKey, bool) {
	parsed, _, options, rest, err := ssh.ParseAuthorizedKey(line)
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return nil, false
	}
	holder, ok := parsed.(ssh.CryptoPublicKey)
	if !ok {
		return nil, false
	}
	key, ok := holder.CryptoPublicKey().(ed25519.PublicKey)
	return key, ok
}

// members also returns whose they are.
func (s Setup) members(fsys disk.FS, hub ed25519.PublicKey) (*Members, event.ID, error) {
	if s.Members == "" {
		return nil, "", nil
	}
	paths, err := s.lists(fsys)
	if err != nil {
		return nil, "", fmt.Errorf("read the list of members: %w", err)
	}
	var newest roster.Roster
	for _, path := range paths {
		b, err := readMost(fsys, path, roster.MaxBytes+1)
		if err != nil {
			return nil, "", fmt.Errorf("read the list of members: %w", err)
		}
		r, err := roster.DecodeOf(bytes.TrimSuffix(b, []byte("\n")), hub)
		if err != nil || newest.Number > 0 && r.Hub != newest.Hub {
			return nil, "", errRoster(filepath.Base(path), err)
		}
		if r.Number > newest.Number {
			newest = r
		}
	}
	if newest.Number == 0 {
		return nil, "", errRoster("the folder", errors.New("there is none"))
	}
	return NewMembers(newest, s.Owner), newest.Hub, nil
}

// lists are the files of members: one, or those of a folder, of which the
// newest counts.
func (s Setup) lists(fsys disk.FS) ([]string, error) {
	info, err := fsys.Stat(s.Members)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{s.Members}, nil
	}
	entries, err := fsys.ReadDir(s.Members)
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			paths = append(paths, filepath.Join(s.Members, e.Name()))
		}
	}
	return paths, err
}

// policy is the built-in one if none is named.
func (s Setup) policy(fsys disk.FS, hub ed25519.PublicKey, of event.ID, now func() time.Time) (*policy.Policy, error) {
	if s.Policy == "" {
		return policy.Default(), nil
	}
	info, err := fsys.Stat(s.Policy)
	if err != nil {
		return nil, usage("the policy file cannot be read: " + err.Error())
	}
	number, text, prints := versions.First, []byte(nil), []byte(nil)
	if info.IsDir() {
		active, key, err := s.signed(fsys, hub, of)
		if err != nil {
			return nil, err
		}
		number, text, prints = active.Number, active.Text, key
	} else if text, err = readMost(fsys, s.Policy, rules.MaxFile+1); err != nil {
		return nil, usage("the policy file cannot be read: " + err.Error())
	}
	if s.Fingerprints != "" {
		if prints, err = readPrints(fsys, s.Fingerprints); err != nil {
			return nil, err
		}
	}
	p, err := policy.Read(number, text, prints, now)
	if err != nil {
		return nil, fmt.Errorf("judge by a team's rules: %w", err)
	}
	return p, nil
}

// signed is the version in force in a folder of signed ones.
func (s Setup) signed(fsys disk.FS, hub ed25519.PublicKey, of event.ID) (*policies.Active, []byte, error) {
	if hub == nil {
		return nil, nil, usage("a folder of policy versions needs the hub's public key beside it")
	}
	active, prints, err := policies.Signed(fsys, s.Policy, hub)
	if errors.Is(err, policies.ErrNone) {
		return nil, nil, &problem.Problem{Code: problem.Corrupt, Message: "the folder of policy versions has none in it, so nothing is taken", Hint: hintOperator, Err: err}
	}
	if err == nil && of != "" && active.Hub != of {
		err = errors.New("they are another hub's than the list of members")
	}
	if err != nil {
		return nil, nil, &problem.Problem{Code: problem.Corrupt, Message: "the policy versions on this server cannot be trusted, so nothing is taken: " + err.Error(), Hint: hintOperator, Err: err}
	}
	return active, prints, nil
}

// printsSize is how long a team's key for fingerprints is.
const printsSize = 32

// readPrints reads a key that nobody but the server may have: whoever has it
// can test a guess at what the policy excuses.
func readPrints(fsys disk.FS, path string) ([]byte, error) {
	b, err := readMost(fsys, path, printsSize+1)
	if err == nil {
		err = disk.Private(fsys, path)
	}
	if err == nil && len(b) != printsSize {
		err = fmt.Errorf("it has not the %d bytes of one", printsSize)
	}
	if err != nil {
		return nil, &problem.Problem{Code: problem.Usage, Message: "the key for fingerprints cannot be used: " + err.Error(), Hint: hintOperator, Err: err}
	}
	return b, nil
}

const hintOperator = "tell the operator of the git server"

func errRoster(what string, err error) error {
	if err == nil {
		err = errors.New("it is of another hub than the others")
	}
	return &problem.Problem{Code: problem.Corrupt, Message: "the list of members cannot be trusted, so nothing is taken: " + what + ": " + err.Error(), Hint: hintOperator, Err: err}
}

func usage(message string) error {
	return &problem.Problem{Code: problem.Usage, Message: message, Hint: hintOperator}
}

// readMost reads no more than so many bytes of a file.
func readMost(fsys disk.FS, path string, most int64) (_ []byte, err error) {
	f, err := disk.Open(fsys, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a folder")}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, most))
}
