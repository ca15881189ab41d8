package repository_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"

	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/hook"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/history"
	"cairn/sync/intake"
)

// keysVar tells this program that git has started it as its hook, and where the
// list of keys is.
const keysVar = "CAIRN_TEST_HOOK_KEYS"

func TestMain(m *testing.M) {
	if keys := os.Getenv(keysVar); keys != "" {
		os.Exit(runHook(keys))
	}
	os.Exit(m.Run())
}

// runHook is the hook's process.
func runHook(keys string) int {
	lines, err := judgeAsHook(keys)
	if err != nil {
		lines = hook.Told(err)
	}
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, line)
	}
	return min(len(lines), 1)
}

// judgeAsHook judges as hub.pusher does.
func judgeAsHook(keys string) ([]string, error) {
	list, err := os.ReadFile(keys)
	if err != nil {
		return nil, err
	}
	o := hook.Options{FS: disk.OS, Event: scanEvent, Raw: scanRaw, Now: time.Now}
	if o.Keys, err = hook.ParseKeys(list); err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return hook.Judge(context.Background(), hook.Call{Getenv: os.Getenv, Dir: dir, Stdin: os.Stdin}, o)
}

// newStock is a hub whose repository stock git serves, with the hook in front.
func newStock(t *testing.T, config ...string) *hub {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine, so the hook was not tried")
	}
	h := newHub(t, repository.Limits{})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := []string{"env", keysVar + "=" + h.keys(), program}
	if _, err := hook.Install(disk.OS, h.repo(), command); err != nil {
		t.Fatal(err)
	}
	h.stock = append([]string{"-c", "receive.autogc=false", "-c", "gc.auto=0"}, config...)
	return h
}

// keys is where the hook finds whose events are taken.
func (h *hub) keys() string { return filepath.Join(h.dir+".keys", "keys") }

// writeKeys lists the devices that may write now, as an operator would.
func (h *hub) writeKeys() {
	h.t.Helper()
	var list []byte
	for _, name := range []string{"laptop", "desktop", "reader"} {
		d, ok := h.members.Device(eventtest.Device(name))
		if !ok || d.Revoked != nil || !h.members.Role(d.Person, "team").Allows(devices.Write) {
			continue
		}
		key, err := ssh.NewPublicKey(eventtest.Key(name).Public())
		if err != nil {
			h.t.Fatal(err)
		}
		list = append(list, ssh.MarshalAuthorizedKey(key)...)
	}
	err := os.MkdirAll(filepath.Dir(h.keys()), 0o700)
	if err == nil {
		err = os.WriteFile(h.keys(), list, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// A process is a program as the other end of a connection.
type process struct {
	io.ReadCloser
	io.WriteCloser
}

func (p process) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// sendToStock pushes to the branch by way of git's receive-pack. There is no
// other ref to push to.
func (m *machine) sendToStock(ref string, tip plumbing.Hash, pack func(w io.Writer, theirs plumbing.Hash) error) (a answer) {
	m.t.Helper()
	if ref == repository.ForMain {
		ref = event.MainRef
	}
	m.hub.writeKeys()
	cmd := exec.Command("git", append(m.hub.stock, "receive-pack", m.hub.repo())...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	conn := process{out, in}
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		m.t.Fatalf("%v\n%s", err, &said)
	}
	command := gitwire.Command{Old: ad.Refs[ref], New: tip, Ref: ref}
	if m.hub.lie != nil {
		command.Old = *m.hub.lie
	}
	a.result, a.err = gitwire.Push(context.Background(), conn, ad, command, gitwire.PushOptions{
		WritePack: func(w io.Writer) error { return pack(w, ad.Refs[event.MainRef]) },
		Messages:  func(line string) { a.lines = append(a.lines, line) },
	})
	a.outcome.Taken = a.err == nil
	conn.Close()
	if err := cmd.Wait(); err != nil && a.err == nil {
		m.t.Errorf("git receive-pack: %v\n%s", err, &said)
	}
	return a
}

// A hook knows only a list of keys, and says of every push at once whether it
// leads on from the branch.
var otherwise = map[string][]string{
	"an event of a revoked device":           {gate.RuleUnknownDevice},
	"an event of somebody who may only read": {gate.RuleUnknownDevice},
	"another first commit":                   {intake.RuleRoot, "fast-forward"},
	"a head that never came":                 {intake.RuleMissing, "fast-forward"},
}

// Each attack on a hub is refused in front of stock git as well, whether git
// unpacks what arrives or keeps it as a pack.
func TestAttacksThroughTheHook(t *testing.T) {
	t.Parallel()
	for limit, list := range map[string]map[string]attack{"1": attacks(), "1000": attacksOnSecrets()} {
		for name, attack := range list {
			t.Run(name+", unpackLimit "+limit, func(t *testing.T) {
				t.Parallel()
				rules, differs := otherwise[name]
				if !differs {
					rules = attack.rules
				}
				attack.perform(t, newStock(t, "-c", "receive.unpackLimit="+limit), rules)
			})
		}
	}
}

// What the server has stored for whatever reason, and no look was taken at, is
// looked at when the branch would gain it.
func TestWhatWasStoredUnseenIsLookedAtWhenTheBranchGainsIt(t *testing.T) {
	t.Parallel()
	for _, borrowed := range []bool{false, true} {
		h := newStock(t)
		m := h.clone("laptop")
		m.note("stored before")
		m.push(event.MainRef).mustBeTaken(t)
		before := m.tip()
		m.append(secret(m))
		m.note("on top")
		if borrowed {
			h.borrowFrom(m)
		} else {
			h.putAll(m, before)
		}
		empty := func(w io.Writer, _ plumbing.Hash) error { return m.store.EncodePack(w, nil) }
		a := m.send(event.MainRef, m.tip(), empty)
		a.mustBeRefused(t, h, h.files(), "nothing of this push was stored")
		if got := a.rules(); len(got) != 1 || got[0] != "secret" {
			t.Errorf("borrowed %v: rules %v", borrowed, got)
		}
	}
}

// Good commits that were stored unseen may be gained.
func TestWhatWasStoredAndIsGoodMayBeGained(t *testing.T) {
	t.Parallel()
	h := newStock(t)
	m := h.clone("laptop")
	before := m.tip()
	m.note("one")
	m.note("two")
	h.putAll(m, before)
	m.send(event.MainRef, m.tip(), func(w io.Writer, _ plumbing.Hash) error { return m.store.EncodePack(w, nil) }).mustBeTaken(t)
	if h.head() != m.tip() {
		t.Error("main did not move")
	}
	h.fsck()
}

// putAll stores what the machine has since a commit, past every gate.
func (h *hub) putAll(m *machine, since plumbing.Hash) {
	h.t.Helper()
	if err := m.graph.Add(m.tip()); err != nil {
		h.t.Fatal(err)
	}
	ids, err := history.NewObjects(context.Background(), m.store, m.graph, []plumbing.Hash{m.tip()}, []plumbing.Hash{since})
	if err != nil {
		h.t.Fatal(err)
	}
	var objects []gitstore.Object
	for _, id := range ids {
		o, err := m.store.Object(id)
		if err != nil {
			h.t.Fatal(err)
		}
		objects = append(objects, o)
	}
	h.put(objects...)
}

// borrowFrom makes the repository borrow the machine's objects, as forges do
// for forks.
func (h *hub) borrowFrom(m *machine) {
	h.t.Helper()
	file := filepath.Join(h.repo(), "objects", "info", "alternates")
	if err := os.WriteFile(file, []byte(filepath.Join(m.store.Dir(), "objects")+"\n"), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// A client that lies about where the branch was gets nowhere.
func TestALieAboutTheBranchIsRefused(t *testing.T) {
	t.Parallel()
	h := newStock(t)
	m := h.clone("laptop")
	m.note("one")
	m.push(event.MainRef).mustBeTaken(t)
	first := m.tip()
	m.note("two")
	m.push(event.MainRef).mustBeTaken(t)
	other := h.clone("desktop")
	if err := other.store.UpdateRef(event.MainRef, other.tip(), first); err != nil {
		t.Fatal(err)
	}
	other.note("instead of two")
	for _, lie := range []plumbing.Hash{first, plumbing.ZeroHash} {
		h.lie = &lie
		a := other.push(event.MainRef)
		a.mustBeRefused(t, h, h.files(), "main has moved")
		if got := a.rules(); len(got) != 1 || got[0] != hubwire.RuleStale {
			t.Errorf("rules %v", got)
		}
	}
}

// What is too big is refused by what it says of its size.
func TestTheHookRefusesWhatIsTooBig(t *testing.T) {
	t.Parallel()
	big := make([]byte, 20<<20)
	for name, make := range map[string]func(m *machine) answer{
		"an object": func(m *machine) answer {
			return m.pushTip(event.MainRef, m.tip(), m.object(plumbing.BlobObject, big))
		},
		"a delta": func(m *machine) answer {
			return m.send(event.MainRef, m.tip(), func(w io.Writer, _ plumbing.Hash) error {
				_, err := w.Write(deltaBomb(20 << 20))
				return err
			})
		},
	} {
		for _, limit := range []string{"1", "1000"} {
			h := newStock(t, "-c", "receive.unpackLimit="+limit)
			m := h.clone("laptop")
			m.note("fine")
			a := make(m)
			a.mustBeRefused(t, h, h.files(), "the limit is", "push fewer events at once")
			if got := a.rules(); len(got) != 1 || got[0] != hubwire.RuleLimit {
				t.Errorf("%s, unpackLimit %s: rules %v\n%s", name, limit, got, strings.Join(a.lines, "\n"))
			}
		}
	}
}

// deltaBomb is a pack of a 64 KiB blob and a small delta that makes size bytes
// of it.
func deltaBomb(size int) []byte {
	const base = 1 << 16
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 2)
	start := len(pack)
	pack = append(pack, byte(plumbing.BlobObject)<<4|0x80, 0x80, 0x20) // 64 KiB: 4, 7 and 7 bits
	pack = append(pack, zlibbed(make([]byte, base))...)
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, base), uint64(size))
	delta = append(delta, bytes.Repeat([]byte{0x80}, size/base)...)
	back := len(pack) - start
	pack = append(pack, byte(plumbing.OFSDeltaObject)<<4|0x80|byte(len(delta)&15), byte(len(delta)>>4))
	if back > 127 {
		panic("the base is too long for a distance of one byte")
	}
	pack = append(pack, byte(back))
	pack = append(pack, zlibbed(delta)...)
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

func zlibbed(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
