package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/storage/memory"
	"golang.org/x/crypto/ssh"

	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
)

// secretAtHub pushes, with another git client, an event that is right in every
// way but for the secret in it.
func (s *stage) secretAtHub() (string, error) {
	return s.pushEvent("rule=github-pat", func(e *event.Event) {
		e.Payload = &event.Observe{Summary: "a note", Content: "the deploy token is " + s.secret}
	})
}

// detachedAtHub pushes an event that says it was written on a detached HEAD.
func (s *stage) detachedAtHub() (string, error) {
	return s.pushEvent("rule=ref", func(e *event.Event) {
		e.Ref = "HEAD"
		e.Payload = &event.Observe{Summary: "a note", Content: "written on no branch"}
	})
}

// pushEvent makes an event with the laptop's key, commits it as cairn would
// but without asking cairn's gate, and pushes it. It must be refused.
func (s *stage) pushEvent(want string, change func(*event.Event)) (string, error) {
	key, err := device.Load(disk.OS, s.laptop.home.DeviceKey())
	if err != nil {
		return "", err
	}
	repo, auth, err := s.clone(key)
	if err != nil {
		return "", err
	}
	head, err := repo.Head()
	if err != nil {
		return "", err
	}
	e, err := signedEvent(key, change)
	if err != nil {
		return "", err
	}
	commit, err := commitEvent(repo, head.Hash(), e)
	if err != nil {
		return "", err
	}
	if err := repo.Storer.SetReference(plumbing.NewHashReference(event.MainRef, commit)); err != nil {
		return "", err
	}
	var said bytes.Buffer
	err = repo.Push(&git.PushOptions{Auth: auth, Progress: &said, RefSpecs: []config.RefSpec{event.MainRef + ":refs/for/main"}})
	return s.mustRefuse(err, said.String(), want)
}

func (s *stage) clone(key device.Key) (*git.Repository, *gitssh.PublicKeys, error) {
	signer, err := key.SSH()
	if err != nil {
		return nil, nil, err
	}
	auth := &gitssh.PublicKeys{User: "git", Signer: signer}
	auth.HostKeyCallback = ssh.InsecureIgnoreHostKey() // a hub in this process
	repo, err := git.Clone(memory.NewStorage(), nil, &git.CloneOptions{URL: "ssh://" + s.hubAddr + "/" + team, Auth: auth})
	if err != nil {
		return nil, nil, fmt.Errorf("clone: %w", err)
	}
	return repo, auth, nil
}

func signedEvent(key device.Key, change func(*event.Event)) (event.Event, error) {
	now := time.Now()
	e := event.Event{
		Schema: event.Schema, ID: event.NewID(now), Kind: event.KindObserve, Space: team, Ref: event.MainRef,
		Observed: event.NewTime(now), Actor: event.Actor{Kind: event.ActorHuman, ID: "ana"},
		Subject: event.Subject{Kind: "note"}, Layer: event.LayerEpisodic,
		Authority: event.Authority{Source: "user"}, Classification: event.Public, Tags: []string{}, Policy: 1,
	}
	change(&e)
	return key.Sign(e)
}

// commitEvent puts e into the repository with go-git's own objects.
func commitEvent(repo *git.Repository, parent plumbing.Hash, e event.Event) (plumbing.Hash, error) {
	before, err := repo.CommitObject(parent)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	file, err := event.Encode(e)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	blob := repo.Storer.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	w, err := blob.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	_, err = w.Write(file)
	if err = errors.Join(err, w.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	id, err := repo.Storer.SetEncodedObject(blob)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, err := insert(repo, before.TreeHash, strings.Split(commitform.Path(e.ID), "/"), id)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	who := object.Signature{Name: string(e.Actor.Device), Email: string(e.Actor.Device) + "@cairn.invalid", When: e.ID.Time()}
	c := object.Commit{Author: who, Committer: who, TreeHash: tree, ParentHashes: []plumbing.Hash{parent},
		Message: string(e.Kind) + ": " + string(e.ID) + "\n\nCairn-Schema: 1\n"}
	o := repo.Storer.NewEncodedObject()
	if err := c.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return repo.Storer.SetEncodedObject(o)
}

// insert adds a file to a tree.
func insert(repo *git.Repository, root plumbing.Hash, path []string, blob plumbing.Hash) (plumbing.Hash, error) {
	t := &object.Tree{}
	if !root.IsZero() {
		var err error
		if t, err = repo.TreeObject(root); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	entry := object.TreeEntry{Name: path[0], Mode: filemode.Regular, Hash: blob}
	var kept []object.TreeEntry
	for _, e := range t.Entries {
		if e.Name == path[0] {
			entry.Hash = e.Hash
			continue
		}
		kept = append(kept, e)
	}
	if len(path) > 1 {
		below := plumbing.ZeroHash
		if entry.Hash != blob {
			below = entry.Hash
		}
		h, err := insert(repo, below, path[1:], blob)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		entry.Mode, entry.Hash = filemode.Dir, h
	}
	out := object.Tree{Entries: append(kept, entry)}
	o := repo.Storer.NewEncodedObject()
	if err := encodeSorted(&out, o); err != nil {
		return plumbing.ZeroHash, err
	}
	return repo.Storer.SetEncodedObject(o)
}

// secretByStockGit does what a person with git would: clone, add a file,
// commit, push.
func (s *stage) secretByStockGit() (string, error) {
	for _, program := range []string{"git", "ssh"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed here: left out", nil
		}
	}
	work := filepath.Join(s.dir, "stock")
	key := string(s.laptop.home.DeviceKey())
	run := func(dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(s.ctx, "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(),
			"GIT_SSH_COMMAND=ssh -F none -i '"+key+"' -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+s.dir,
			"GIT_AUTHOR_NAME=ana", "GIT_AUTHOR_EMAIL=ana@example.invalid", "GIT_COMMITTER_NAME=ana", "GIT_COMMITTER_EMAIL=ana@example.invalid")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(s.dir, "clone", "-q", "ssh://git@"+s.hubAddr+"/"+team, work); err != nil {
		return "", fmt.Errorf("git clone: %w: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(work, "deploy.txt"), []byte("token = "+s.secret+"\n"), 0o600); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"add", "deploy.txt"}, {"commit", "-q", "-m", "deploy notes"}} {
		if out, err := run(work, args...); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	out, err := run(work, "push", "origin", "HEAD:refs/for/main")
	return s.mustRefuse(err, out, "rule=github-pat")
}

// mustRefuse checks that a push was refused for the right reason and without
// repeating the secret.
func (s *stage) mustRefuse(err error, said, want string) (string, error) {
	if err == nil {
		return "", errors.New("the hub took it")
	}
	all := said + err.Error()
	if strings.Contains(all, s.secret) {
		return "", errors.New("the refusal repeats the secret")
	}
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "remote:"))
		if strings.HasPrefix(line, "cairn: refused") && strings.Contains(line, want) {
			return line, nil
		}
	}
	return "", fmt.Errorf("it was refused, but not for what was expected: %w: %s", err, said)
}
