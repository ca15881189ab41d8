package gitwire_test

import (
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/storage/memory"
)

func TestGoGitClonesFetchesAndPushes(t *testing.T) {
	t.Parallel()
	r := newRepo()
	r.commit(t, "a")
	url, _ := daemon(t, r)
	clone, err := gogit.Clone(memory.NewStorage(), nil, &gogit.CloneOptions{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	tip := r.commit(t, "b")
	if err := clone.Fetch(&gogit.FetchOptions{}); err != nil {
		t.Fatal(err)
	}
	ref, err := clone.Reference("refs/remotes/origin/main", false)
	if err != nil || ref.Hash() != tip || r.lastSent() != 3 {
		t.Errorf("fetched %v with %d objects, %v", ref, r.lastSent(), err)
	}
	other := newRepo()
	other.commit(t, "a")
	other.commit(t, "b")
	next := other.commit(t, "c")
	source, err := gogit.Init(other.objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = source.CreateRemote(&config.RemoteConfig{Name: "hub", URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	push := &gogit.PushOptions{RemoteName: "hub", RefSpecs: []config.RefSpec{config.RefSpec(next.String() + ":refs/for/main")}}
	if err := source.Push(push); err != nil || r.main() != next {
		t.Errorf("pushed %s, main is at %s, %v", next, r.main(), err)
	}
}
