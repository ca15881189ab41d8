package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/problem"
)

// operator is whoever sits at the hub.
var operator = admin.Caller{}

func TestAMachineJoinsWithOneLine(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	text := h.invite("ana", devices.Write, "team")
	got, err := h.join(text, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	if got.Person != "ana" || got.Device != eventtest.Device("laptop") || len(got.Spaces) != 2 || got.Hub == "" {
		t.Errorf("enrolled %+v", got)
	}
	var who hubwire.Whoami
	err = h.as("laptop").run("", &who, "whoami")
	if err != nil || who.Person != "ana" || who.Name != "laptop" || who.Admin || who.Fingerprint != hubwire.Fingerprint(keyOf("laptop").Public()) {
		t.Errorf("whoami %+v, %v", who, err)
	}
	if who.Rights["team"] != "write" || who.Rights["personal"] != "write" || len(who.Rights) != 2 {
		t.Errorf("rights %v", who.Rights)
	}
	var list []hubwire.SpaceInfo
	if err := h.as("laptop").run("", &list, "spaces"); err != nil || !slices.Equal(list, got.Spaces) || !list[0].Personal || list[0].Name != "personal" || list[1].Name != "team" {
		t.Errorf("spaces %+v, %v", list, err)
	}
	// The seed in the invite is nowhere on the hub.
	i, err := invite.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	h.noTraceOf(string(i.Seed[:]))
}

func TestInvitesThatOpenNothing(t *testing.T) {
	t.Parallel()
	var clock sync.Mutex
	ahead := time.Duration(0)
	h := open(t, hub.Options{Now: func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return time.Now().Add(ahead)
	}})
	used := h.invite("ana", devices.Write, "team")
	if _, err := h.join(used, "laptop"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.join(used, "laptop"); err != nil {
		t.Errorf("asking again after a lost answer: %v", err)
	}
	_, err := h.join(used, "thief")
	wants(t, "a used invite", message(err)+problem.Of(err).Hint, "was used by another device", "cairn hub invite")
	old := h.invite("bo", devices.Write, "team")
	clock.Lock()
	ahead = 2 * devices.DefaultTTL
	clock.Unlock()
	_, err = h.join(old, "desktop")
	wants(t, "an old invite", message(err), "has expired")
	_, err = h.join(open(t, hub.Options{}).invite("cy", devices.Write, "team"), "phone")
	wants(t, "another hub's invite", message(err), "does not know the key SHA256:")
}

// A signature for one connection, heard by somebody who holds an invite, is
// worth nothing on another connection.
func TestAnEnrolmentCannotBeReplayed(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	i, err := invite.Parse(h.invite("mallory", devices.Write, "team"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := i.Key()
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]any{
		"replayed": hubwire.NewEnrolRequest(keyOf("victim"), "victim", []byte("another session")),
		"nonsense": []string{"hello"},
	} {
		c, err := h.dial(key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.enrol(request); code(err) != problem.HubRefused {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := h.Admin().Everyone(context.Background())
	if err != nil || len(all.Devices) != 0 {
		t.Errorf("devices %+v, %v", all.Devices, err)
	}
}

func TestPersonalIsEachPersonsOwn(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop")
	h.member("ana", devices.Write, "desktop")
	h.member("bo", devices.Admin, "phone")
	ana, bo := h.worker("laptop").clone("personal"), h.worker("phone").clone("personal")
	ana.append(note("personal", "laptop", "dear diary"))
	ana.git("push", "--quiet", "origin", "main")
	second := h.worker("desktop").clone("personal")
	if second.git("rev-parse", "main") != ana.git("rev-parse", "main") {
		t.Error("ana's other machine does not have her note")
	}
	bo.git("fetch", "--quiet", "origin")
	if bo.git("rev-list", "--count", "FETCH_HEAD") != "1" {
		t.Error("bo, admin or not, sees ana's notes")
	}
	// Nor can a note of his get into her space through her machine.
	ana.append(note("personal", "phone", "hello"))
	ana.refused([]string{"push", "origin", "main"}, "rule=no-right")
}

func TestWatchersHearOfAPush(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Read, "desktop", "team")
	lines, watching := h.as("desktop").watch("watch team personal")
	hello := <-lines
	w := h.worker("laptop").clone("team")
	if got := hello.Hello["team"][event.MainRef]; got != w.git("rev-parse", "main") || len(hello.Hello) != 2 {
		t.Errorf("hello %+v", hello)
	}
	w.note("one")
	w.git("push", "--quiet", "origin", "main")
	l := <-lines
	// The hub's own audit events count as changes too.
	if l.Space != "team" || l.Ref != event.MainRef || l.New != w.git("rev-parse", "main") || l.Seq <= hello.Seq {
		t.Errorf("line %+v after %+v", l, hello)
	}
	err := h.as("desktop").run("", nil, "watch docs")
	wants(t, "watching a strange space", message(err), "no space of that name that you may use")
	if err := h.stop(); err != nil {
		t.Errorf("stopping with an open watch: %v", err)
	}
	if err := <-watching; err != nil {
		t.Errorf("the watch is not ended in order: %v", err)
	}
}

func TestAnAdminRunsTheHubFromAfar(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Admin, "laptop")
	h.member("bo", devices.Write, "desktop", "team")
	boss := h.as("laptop")
	run := func(into any, verb string) {
		t.Helper()
		if err := boss.run("", into, "hub "+verb+" --json"); err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
	}
	var made admin.SpaceMade
	run(&made, "spaces create docs")
	var invited admin.Invited
	run(&invited, "invite cy --space docs --space=team --role read --expires 1h --addr "+h.addr)
	if _, err := h.join(invited.Invite, "phone"); err != nil {
		t.Fatal(err)
	}
	var granted admin.Granted
	run(&granted, "grant cy docs write")
	var who hubwire.Whoami
	if err := h.as("phone").run("", &who, "whoami"); err != nil || who.Rights["docs"] != "write" || who.Rights["team"] != "read" {
		t.Errorf("cy has %+v, %v", who.Rights, err)
	}
	var status admin.Status
	run(&status, "status")
	if status.People != 3 || status.Devices != 3 || len(status.Spaces) != 3 || status.Spaces[0].Problem != "" {
		t.Errorf("status %+v", status)
	}
	var revoked admin.Revoked
	run(&revoked, "revoke cy")
	if len(revoked.Devices) != 1 || revoked.Devices[0].ID != eventtest.Device("phone") {
		t.Errorf("revoked %+v", revoked)
	}
	var everyone admin.Everyone
	run(&everyone, "devices")
	if len(everyone.Devices) != 3 || len(everyone.People) != 3 {
		t.Errorf("devices %+v", everyone)
	}
	var records admin.Records
	run(&records, "audit --person ana -n 10")
	if len(records.Records) != 5 || records.Records[0].Action != "revoke" || records.Records[0].Target != "cy" {
		t.Errorf("audit %+v", records.Records)
	}
	for verb, hint := range map[string]string{
		"nonsense": "the verbs are: ", "grant bo": "the form is: grant PERSON", "invite bo --no-such-flag": "the form is: invite PERSON",
		"spaces destroy team": "the form is: spaces", "revoke": "the form is: revoke DEVICE|PERSON",
	} {
		err := boss.run("", nil, "hub "+verb)
		if p := problem.Of(err); code(err) != problem.Usage || !strings.HasPrefix(p.Hint, hint) || strings.Contains(p.Message, "destroy") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	err := h.as("desktop").run("", nil, "hub devices")
	wants(t, "bo", message(err), "bo is no admin of this hub")
}

// Another process on the hub's machine administers it while it is served.
func TestRevokingFromAnotherProcessCutsTheConnection(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	lines, watching := h.as("laptop").watch("watch team")
	<-lines
	other, err := hub.Open(h.dir, hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Admin().Revoke(context.Background(), operator, "ana"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := <-watching; err == nil {
		t.Error("the watch goes on")
	}
	_, err = h.dial(privateKey("laptop"))
	wants(t, "logging in again", message(err), "was revoked at this hub", hubwire.Fingerprint(keyOf("laptop").Public()))
}

func TestOneProcessServesAHub(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	second, err := hub.Open(h.dir, hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	l := listen(t)
	if err := second.Serve(context.Background(), l); code(err) != problem.Busy {
		t.Errorf("a second one: %v", err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := second.Serve(ctx, listen(t)); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

func TestAHubIsMadeOnceAndRefusedWhenItIsNotWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	if _, err := hub.Open(dir, hub.Options{}); code(err) != problem.NoStore {
		t.Errorf("before it is made: %v", err)
	}
	made, err := hub.Init(context.Background(), dir)
	if err != nil || made.Existed || !strings.HasPrefix(made.HostKey, "SHA256:") {
		t.Fatalf("made %+v, %v", made, err)
	}
	again, err := hub.Init(context.Background(), dir)
	if err != nil || !again.Existed || again.HostKey != made.HostKey || again.Hub != made.Hub {
		t.Errorf("made again %+v, %v", again, err)
	}
	key := filepath.Join(dir, "host_key")
	if runtime.GOOS != "windows" {
		if err := os.Chmod(key, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := hub.Open(dir, hub.Options{}); code(err) != problem.Corrupt || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("with a key that others can read: %v", err)
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Open(dir, hub.Options{}); code(err) != problem.Corrupt {
		t.Errorf("without its key: %v", err)
	}
	if _, err := hub.Init(context.Background(), dir); code(err) != problem.Corrupt {
		t.Errorf("making it again without its key: %v", err)
	}
	if _, err := os.Stat(key); err == nil {
		t.Error("a hub that lost its key was given another")
	}
}

func TestTheCallerOfOpenCanAddARule(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{Decide: func(e event.Event) error {
		if slices.Contains(e.Tags, "draft") {
			return &problem.Problem{Code: problem.Policy, Message: "no drafts", Rule: "no-drafts", Field: "tags", Hint: "finish it first"}
		}
		return nil
	}})
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop").clone("team")
	e := note("team", "laptop", "half a thought")
	e.Tags = []string{"draft"}
	w.append(eventtest.Signed(e, "laptop"))
	w.refused([]string{"push", "origin", "main"}, "rule=no-drafts field=tags", "finish it first")
}
