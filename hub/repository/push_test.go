package repository_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/intake"
)

func public(k crypto.PublicKey) ed25519.PublicKey { return k.(ed25519.PublicKey) }

func (a answer) mustBeTaken(t testing.TB) {
	t.Helper()
	if a.err != nil || a.session != nil || !a.outcome.Taken {
		t.Fatalf("the push was not taken: %v, %v\n%s", a.err, a.session, strings.Join(a.lines, "\n"))
	}
}

// mustBeRefused checks the no, and that the hub's folder is as it was.
func (a answer) mustBeRefused(t *testing.T, h *hub, before map[string]string, words ...string) {
	t.Helper()
	if _, ok := errors.AsType[*gitwire.RejectedError](a.err); !ok || a.session != nil || a.outcome.Taken {
		t.Errorf("the push was not refused in order: %v, %v, %+v", a.err, a.session, a.outcome)
		return
	}
	said := strings.Join(append(a.lines, a.err.Error()), "\n")
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("the hub does not say %q:\n%s", w, said)
		}
	}
	if strings.Contains(said, forbidden) {
		t.Errorf("the hub repeats the secret:\n%s", said)
	}
	if after := h.files(); !maps.Equal(before, after) {
		t.Errorf("something stays of a refused push:\n%v\n%v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

func TestAPushIsFoundByTheOtherMachine(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	laptop, desktop := h.clone("laptop"), h.clone("desktop")
	one, two := laptop.note("one"), laptop.note("two")
	a := laptop.push(event.MainRef)
	a.mustBeTaken(t)
	if a.outcome.Head != laptop.tip() || !slices.Equal(a.outcome.Events, []event.ID{one.ID, two.ID}) {
		t.Errorf("outcome %+v", a.outcome)
	}
	desktop.pull()
	if got := eventsOf(t, desktop.log); !slices.Equal(got, eventsOf(t, laptop.log)) || len(got) != 2 {
		t.Errorf("the desktop has %v", got)
	}
	laptop.push(event.MainRef).mustBeTaken(t) // nothing new
	h.fsck()
}

func TestTheHubJoinsWhatIsPushedForMain(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	laptop, desktop := h.clone("laptop"), h.clone("desktop")
	laptop.note("one")
	a := laptop.push(repository.ForMain)
	a.mustBeTaken(t)
	if want := (gitwire.Command{Old: a.result.Landed.Old, New: laptop.tip(), Ref: event.MainRef}); a.result.Landed != want {
		t.Errorf("a fast-forward landed as %+v", a.result.Landed)
	}
	desktop.note("two")
	a = desktop.push(repository.ForMain)
	a.mustBeTaken(t)
	if a.result.Landed.Ref != repository.ForMain || h.head() == desktop.tip() {
		t.Errorf("a join is reported as %+v", a.result.Landed)
	}
	if said := strings.Join(a.lines, "\n"); !strings.Contains(said, h.head().String()) {
		t.Errorf("the new head is not told: %s", said)
	}
	// Both machines make the very commit that the hub made.
	laptop.fetch()
	o, _, err := commitOf(laptop, laptop.tip(), desktop.tip())
	if err != nil || o != h.head() {
		t.Errorf("the hub's merge is %s, ours %s, %v", h.head(), o, err)
	}
	desktop.push(repository.ForMain).mustBeTaken(t) // contained already
	if len(h.events()) != 2 {
		t.Errorf("the hub has %v", h.events())
	}
	h.fsck()
}

func TestRacingPushesAllLand(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	const machines, rounds = 4, 6
	h.enrol("bo", devices.Write, "m0", "m1", "m2", "m3")
	w := h.set.Feed().Watch(h.team)
	defer w.Close()
	var all []*machine
	for _, name := range []string{"m0", "m1", "m2", "m3"} {
		all = append(all, h.clone(name))
	}
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(func() {
			for range rounds {
				m.note("hello")
				if a := m.push(repository.ForMain); a.err != nil || a.session != nil {
					t.Errorf("%s: %v, %v", m.name, a.err, a.session)
				}
			}
		})
	}
	wg.Wait()
	if got := h.events(); len(got) != machines*rounds {
		t.Errorf("%d events at the hub", len(got))
	}
	last := plumbing.ZeroHash
	for range len(w.Changes) {
		last = (<-w.Changes).New
	}
	if last != h.head() {
		t.Errorf("watchers know %s, the head is %s", last, h.head())
	}
	h.fsck()
}

func TestRefsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("stored")
	m.push(event.MainRef).mustBeTaken(t)
	m.note("new")
	before := h.files()
	for ref, words := range map[string][]string{
		"HEAD":                             {"HEAD is not a branch", "git switch main"},
		"refs/heads/HEAD":                  {"HEAD is not a branch", "git switch main"},
		"refs/for/HEAD":                    {"HEAD is not a branch"},
		"refs/heads/topic":                 {"only main is taken", "HEAD:refs/for/main"},
		"refs/for/topic":                   {"only main is taken", "HEAD:refs/for/main"},
		"refs/tags/v1":                     {"tags are not taken", "--tags"},
		"refs/notes/x":                     {"only main is taken", "git push HUB main"},
		"refs/replace/" + m.tip().String(): {"only main is taken"},
		"refs/cairn/epoch":                 {"only main is taken"},
		"refs/heads/main/x":                {"only main is taken"},
	} {
		m.push(ref).mustBeRefused(t, h, before, words...)
	}
	for _, ref := range []string{event.MainRef, repository.ForMain, "refs/heads/topic"} {
		a := m.send(ref, plumbing.ZeroHash, func(io.Writer, plumbing.Hash) error { return nil })
		a.mustBeRefused(t, h, before, "nothing can be deleted here", "cairn redact")
	}
}

func TestHistoryIsOnlyAddedTo(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	laptop, desktop := h.clone("laptop"), h.clone("desktop")
	laptop.note("one")
	laptop.push(event.MainRef).mustBeTaken(t)
	desktop.note("two")
	before := h.files()
	desktop.push(event.MainRef).mustBeRefused(t, h, before, "not a fast-forward", "HEAD:refs/for/main")
	desktop.push(repository.ForMain).mustBeTaken(t)
}

func commitOf(m *machine, a, b plumbing.Hash) (plumbing.Hash, []gitstore.Object, error) {
	if err := m.graph.Add(a, b); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	o, trees, err := mergeCommit(m, a, b)
	return o.Hash, trees, err
}

func TestEveryFindingIsReportedAndTheOthersCanGo(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	before := h.files()
	var bad []event.ID
	for i := range 6 {
		e := m.event("fine")
		if i%2 == 0 {
			e = m.event("the word is " + forbidden)
			bad = append(bad, e.ID)
		}
		m.append(e)
	}
	a := m.push(event.MainRef)
	a.mustBeRefused(t, h, before, "3 findings")
	var named []event.ID
	for _, r := range a.refusals() {
		if r.Rule != "secret" || r.Field != "payload.content" || r.Path != commitform.Path(r.Event) || r.Commit == (commitform.Hash{}) {
			t.Errorf("refusal %+v", r)
		}
		named = append(named, r.Event)
	}
	slices.Sort(named)
	slices.Sort(bad)
	if !slices.Equal(named, bad) || !slices.Equal(slices.Sorted(slices.Values(a.outcome.Events)), bad) {
		t.Errorf("named %v, recorded %v, want %v", named, a.outcome.Events, bad)
	}
}

func TestManyFindingsAreToldInFewLines(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	before := h.files()
	var events []event.Event
	for range gitwire.MaxMessages {
		events = append(events, m.event(forbidden))
	}
	m.append(events...)
	a := m.push(event.MainRef)
	a.mustBeRefused(t, h, before, "200 findings", "and 100 more findings")
	if len(a.refusals()) != 100 || len(a.outcome.Events) != 200 {
		t.Errorf("%d told, %d recorded", len(a.refusals()), len(a.outcome.Events))
	}
}

func TestATrulySignedEventIsTakenWhoeverBringsIt(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.append(eventtest.Signed(m.event("from the desktop"), "desktop"))
	m.push(event.MainRef).mustBeTaken(t)
}

func TestTwoContentsOfOneEventAreNeverJoined(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	laptop, desktop := h.clone("laptop"), h.clone("desktop")
	e := laptop.note("one")
	laptop.push(event.MainRef).mustBeTaken(t)
	other := desktop.event("another")
	other.ID = e.ID
	desktop.append(eventtest.Signed(other, "desktop"))
	before := h.files()
	a := desktop.push(repository.ForMain)
	a.mustBeRefused(t, h, before)
	if r := a.refusals(); len(r) != 1 || r[0].Rule != intake.RuleConflict || r[0].Event != e.ID {
		t.Errorf("refusals %+v", r)
	}
	h.fsck()
}

func TestAPackOverTheLimitsOrBrokenIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pack: gitstore.Limits{Objects: 20}})
	m := h.clone("laptop")
	for range 10 {
		m.note("hello")
	}
	before := h.files()
	m.push(event.MainRef).mustBeRefused(t, h, before, "the limit is 20", "fewer events")

	tip := m.tip()
	a := m.send(repository.ForMain, tip, func(w io.Writer, _ plumbing.Hash) error {
		var b bytes.Buffer
		if err := m.store.EncodePack(&b, []plumbing.Hash{tip}); err != nil {
			return err
		}
		b.Bytes()[b.Len()-1] ^= 1 // the checksum
		_, err := w.Write(b.Bytes())
		return err
	})
	a.mustBeRefused(t, h, before, "pack refused")
}

func TestAVanishedClientLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("hello")
	before := h.files()
	gone := errors.New("gone")
	a := m.send(event.MainRef, m.tip(), func(w io.Writer, _ plumbing.Hash) error {
		if _, err := io.WriteString(w, "PACK\x00\x00\x00\x02"); err != nil {
			return err
		}
		return gone
	})
	if !errors.Is(a.err, gone) || a.session == nil || a.outcome.Taken {
		t.Errorf("client %v, hub %v", a.err, a.session)
	}
	if !maps.Equal(before, h.files()) {
		t.Error("something stays")
	}
}

func TestASilentPushIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Stall: 50 * time.Millisecond})
	m := h.clone("laptop")
	m.note("hello")
	before := h.files()
	conn, end := h.serve(func(ctx context.Context, rw hubwire.Stream) error {
		_, err := h.team.ServePush(ctx, rw, h.pusher("laptop"))
		return err
	})
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join([]string{ad.Refs[event.MainRef].String(), m.tip().String(), event.MainRef}, " ") + "\x00report-status"
	if _, err := io.WriteString(conn, pkt(line)+"0000PACK"); err != nil {
		t.Fatal(err)
	}
	// And then nothing more.
	err = end()
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Busy {
		t.Errorf("the hub ends with %v", err)
	}
	if !maps.Equal(before, h.files()) {
		t.Error("something stays")
	}
}

// begin opens a push of the device and sends its command and no pack.
func (h *hub) begin(device string, tip plumbing.Hash) (net.Conn, func() error) {
	h.t.Helper()
	conn, end := h.serve(func(ctx context.Context, rw hubwire.Stream) error {
		_, err := h.team.ServePush(ctx, rw, h.pusher(device))
		return err
	})
	if _, err := gitwire.ReadAdvert(conn); err != nil {
		h.t.Fatal(err)
	}
	line := strings.Join([]string{plumbing.ZeroHash.String(), tip.String(), repository.ForMain}, " ") + "\x00report-status side-band-64k"
	if _, err := io.WriteString(conn, pkt(line)+"0000"); err != nil {
		h.t.Fatal(err)
	}
	return conn, end
}

// A client may leave the answer to its push unread, and not hang up.
func TestAPushWhoseAnswerIsNotReadIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Whole: 200 * time.Millisecond})
	m := h.clone("laptop")
	m.note("hello")
	conn, end := h.begin("laptop", m.tip())
	if err := m.encode(conn, m.tip(), h.head()); err != nil {
		t.Fatal(err)
	}
	if err := end(); err == nil {
		t.Error("the push ended as if it was read")
	}
	if left := incoming(t, h.repo()); len(left) > 0 {
		t.Errorf("left in quarantine: %v", left)
	}
}

func incoming(t testing.TB, repo string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(repo, "objects", "incoming"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return entries
}

// Whoever holds pushes open, with as many devices as they like, does not keep
// others out.
func TestOnePersonDoesNotFillTheHub(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 2})
	h.enrol("bo", devices.Write, "tower")
	for _, device := range []string{"laptop", "desktop"} {
		conn, end := h.begin(device, plumbing.ComputeHash(plumbing.CommitObject, nil))
		defer func() {
			conn.Close()
			_ = end() // the push was cut off
		}()
	}
	m := h.clone("tower")
	m.note("hello")
	m.push(repository.ForMain).mustBeTaken(t)
}

func TestADetachedHubTakesAndGivesNothing(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("hello")
	if err := os.WriteFile(filepath.Join(h.repo(), "HEAD"), []byte(h.head().String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := h.files()
	for name, serve := range map[string]func(context.Context, hubwire.Stream) error{
		"fetch": h.fetching,
		"push": func(ctx context.Context, rw hubwire.Stream) error {
			_, err := h.team.ServePush(ctx, rw, h.pusher("laptop"))
			return err
		},
	} {
		_, end := h.serve(serve)
		err := end()
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Detached || !strings.Contains(p.Hint, "git symbolic-ref HEAD refs/heads/main") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !maps.Equal(before, h.files()) {
		t.Error("something changed")
	}
}

// A commit that lies in the store without being part of the history was never
// looked at by today's rules, so a push cannot bring it in by its name.
func TestLeftOverObjectsAreNotBroughtBack(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.append(m.event(forbidden))
	left := m.tip()
	store, err := gitstore.Open(disk.OS, h.repo())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var pack bytes.Buffer
	ids := []plumbing.Hash{left}
	if err := m.store.EncodePack(&pack, ids); err != nil {
		t.Fatal(err)
	}
	q, err := store.Quarantine()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.Receive(context.Background(), &pack, gitstore.Limits{}), q.Publish()); err != nil {
		t.Fatal(err)
	}
	before := h.files()
	a := m.send(repository.ForMain, left, func(w io.Writer, _ plumbing.Hash) error { return m.store.EncodePack(w, nil) })
	a.mustBeRefused(t, h, before, "not sent")
}

// A push whose judgement never lasts until the branch moves is given up, and its
// sender and the record are told why.
func TestAPushThatIsJudgedInVainIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("judged in vain")
	before, by, judged := h.head(), h.pusher("laptop"), 0
	judge := by.Judge
	by.Judge = func() (repository.Judge, error) {
		judged++
		j, err := judge()
		j.Stands = func() (bool, error) { return false, nil }
		return j, err
	}
	a := m.sendAs(by, event.MainRef, m.tip(), func(w io.Writer, theirs plumbing.Hash) error { return m.encode(w, m.tip(), theirs) })
	if a.session != nil || a.outcome.Taken || !slices.Equal(a.outcome.Rules, []string{"policy"}) || judged < 2 {
		t.Errorf("judged %d times: %+v, %v", judged, a.outcome, a.session)
	}
	if said := strings.Join(a.lines, "\n"); !strings.Contains(said, "push again") || !strings.Contains(fmt.Sprint(a.err), "members or policy changed") {
		t.Errorf("the sender is told %q, %v", said, a.err)
	}
	if h.head() != before {
		t.Error("the branch has moved")
	}
}

// stuck begins a push of the device that sends no byte of its pack, and waits
// until it is under way.
func (h *hub) stuck(device string) (let func() error) {
	h.t.Helper()
	before := len(incoming(h.t, h.repo()))
	conn, end := h.begin(device, plumbing.ComputeHash(plumbing.CommitObject, nil))
	for range 3000 {
		if len(incoming(h.t, h.repo())) > before {
			return func() error { conn.Close(); return end() }
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Fatal("the push does not begin")
	return nil
}

// Whoever is slow to send, in whatever number, keeps nobody out.
func TestSlowPushesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 2})
	for i := range 5 {
		name := fmt.Sprint("slow", i)
		h.enrol(fmt.Sprint("person", i), devices.Write, name)
		let := h.stuck(name)
		defer func() { _ = let() }() // the push was cut off
	}
	m := h.clone("laptop")
	m.note("hello")
	m.push(repository.ForMain).mustBeTaken(t)
}

// Nor does whoever does not listen to the answer.
func TestDeafPushesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 1})
	for i := range 3 {
		name := fmt.Sprint("deaf", i)
		h.enrol(fmt.Sprint("person", i), devices.Write, name)
		deaf := h.clone(name)
		deaf.note("the word is " + forbidden)
		conn, end := h.begin(name, deaf.tip())
		defer func() {
			conn.Close()
			_ = end() // the answer was not taken
		}()
		if err := deaf.encode(conn, deaf.tip(), h.head()); err != nil {
			t.Fatal(err)
		}
	}
	m := h.clone("laptop")
	m.note("hello")
	m.push(repository.ForMain).mustBeTaken(t)
}

// A device does not pile up pushes that wait for each other.
func TestADeviceDoesNotPileUpPushes(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	defer h.stuck("laptop")()
	ended := make(chan error, 8)
	for range 8 {
		conn, end := h.begin("laptop", plumbing.ComputeHash(plumbing.CommitObject, nil))
		defer conn.Close()
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		go func() { ended <- end() }()
	}
	for range 5 { // the others wait
		if err := <-ended; problem.Of(err).Code != problem.Busy {
			t.Errorf("%v", err)
		}
	}
	m := h.clone("desktop")
	m.note("hello")
	m.push(repository.ForMain).mustBeTaken(t)
}

// Whoever sends on after a pack was refused is hung up on before long, and whoever has them pay for it is told before.
func TestWhoSendsOnAfterARefusalIsHungUpOn(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	var out repository.Outcome
	told := 0
	by := h.pusher("laptop")
	by.Refused = func() { told++ }
	conn, end := h.serve(func(ctx context.Context, rw hubwire.Stream) (err error) {
		out, err = h.team.ServePush(ctx, rw, by)
		return err
	})
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // until it is hung up
	line := fmt.Sprintf("%s %s %s\x00 report-status", ad.Refs[event.MainRef], strings.Repeat("1", 40), event.MainRef)
	_, err = fmt.Fprintf(conn, "%04x%s0000PACK\x00\x00\x00\x02\x00\x00\x00\x09", len(line)+4, line)
	sent := 0
	for junk := make([]byte, 64<<10); err == nil && sent < 64<<20; {
		var n int
		n, err = conn.Write(junk)
		sent += n
	}
	_ = end() // with an error or without: the client was told
	if told != 1 || sent < 1<<20 || sent > 16<<20 || !slices.Equal(out.Rules, []string{"pack"}) || out.Taken {
		t.Errorf("told %d times, %d bytes sent, %+v", told, sent, out)
	}
}
