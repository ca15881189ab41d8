package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"cairn/hub/admin"
	"cairn/hub/audit"
	"cairn/hub/chronicle"
	"cairn/hub/devices"
	"cairn/hub/dryrun"
	"cairn/hub/policies"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy"
)

// Options change how a hub behaves. The zero value is a hub as it should be.
type Options struct {
	Log *slog.Logger // nothing is logged if nil
	// Decide adds a rule to those of the policy: an event for which it returns
	// an error is refused.
	Decide func(event.Event) error
	Door   sshdoor.Limits
	Pushes repository.Limits
	Now    func() time.Time // time.Now if nil
	FS     disk.FS          // the machine's if nil
	// Ready is called once when the folder is this process's to serve; nil for
	// nobody who waits for it.
	Ready func(net.Addr)
}

// A Hub is one hub's folder, open. It is safe for concurrent use.
type Hub struct {
	dir     string
	fs      disk.FS
	id      identity
	key     device.Key
	log     *slog.Logger
	now     func() time.Time
	decide  func(event.Event) error
	ready   func(net.Addr)
	builtIn *policy.Policy
	judge   judge
	quota   quota
	news    *news
	signer  signer
	door    *sshdoor.Door
	members *devices.Store
	spaces  *repository.Set
	audit   *audit.Log
	events  *chronicle.Chronicle
	team    *policies.Store
	admin   *admin.Admin
	trials  *dryrun.Runner
	meter   *meter
}

// Open opens the hub in the folder dir. It serves nothing yet, and other
// processes may have it open too. The caller closes it. Errors that somebody
// can do something about are *problem.Problem.
func Open(dir string, o Options) (*Hub, error) {
	h := &Hub{dir: dir, fs: o.FS, log: o.Log, now: o.Now, decide: o.Decide, ready: o.Ready, builtIn: policy.Default(), news: newNews()}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.fs == nil {
		h.fs = disk.OS
	}
	if err := h.read(); err != nil {
		return nil, err
	}
	if err := h.assemble(o); err != nil {
		return nil, fmt.Errorf("open the hub: %w", err)
	}
	return h, nil
}

// read reads who the hub is and who its members are.
func (h *Hub) read() (err error) {
	h.id, err = readIdentity(h.fs, h.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoHub(h.dir)
	}
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, hostKeyFile)
	if h.key, err = device.Load(h.fs, path); err != nil {
		return errHostKey(path, err)
	}
	if err := disk.Private(h.fs, path); err != nil {
		return errHostKey(path, err)
	}
	h.members, err = devices.Open(h.fs, h.dir)
	return err
}

// assemble makes the parts and ties them together.
func (h *Hub) assemble(o Options) (err error) {
	h.audit, err = audit.Open(h.fs, filepath.Join(h.dir, auditDir), h.now)
	if err != nil {
		return err
	}
	h.team = policies.Open(h.fs, filepath.Join(h.dir, policyDir), h.id.Hub, h.key, h.maySign, h.now)
	h.spaces = repository.NewSet(h.fs, h.dir, o.Pushes, h.log)
	h.events = chronicle.New(chronicle.Options{
		Log: h.audit, Spaces: h.spaces, Key: h.key, Judge: h.mayBeSeen, FS: h.fs,
		Path: filepath.Join(h.dir, auditEventsFile), Now: h.now, Trace: h.log,
	})
	signer, err := h.key.SSH()
	if err != nil {
		return err
	}
	h.door, err = sshdoor.New(sshdoor.Options{HostKey: signer, Lookup: h.lookup, Handle: h.handle, Log: h.log, Limits: o.Door})
	if err != nil {
		return err
	}
	h.trials = dryrun.New(dryrun.Options{Spaces: h.toTry, Now: h.now, Log: h.log})
	h.meter = newMeter(h.door.Tally, h.audit.Lost)
	h.admin = admin.New(admin.Options{
		Members: h.members, Spaces: h.spaces, Audit: h.audit, Hub: h.id.Hub,
		HostKey: hubwire.Fingerprint(h.key.Public()), Changed: h.door.Recheck, Now: h.now,
		Policies: h.team, AuditEvents: h.events.State, PolicyChanged: h.news.tell, Explain: h.explain, Administers: h.administers,
		Rehearse: h.rehearse,
		Key:      h.key, Secret: func(text string) bool { return len(h.builtIn.DecideRaw(policy.Ref, []byte(text))) > 0 },
	})
	return nil
}

// Admin is the hub's administration.
func (h *Hub) Admin() *admin.Admin { return h.admin }

// Fingerprint is that of the host key, as ssh prints it.
func (h *Hub) Fingerprint() string { return hubwire.Fingerprint(h.key.Public()) }

// recheckEvery is how often it is looked for what another process has changed:
// the member list, with which the running connections are compared, and the
// history of a space, by a purge.
const recheckEvery = time.Second

// Serve lets members in on l until ctx ends, then stops in order: watches are
// told, running pushes and fetches finish or are cut after the grace of
// Options.Door. It closes l. A Hub serves once; if another process serves the
// folder, the error is a *problem.Problem with the code problem.Busy.
func (h *Hub) Serve(ctx context.Context, l net.Listener) (err error) {
	lock, err := disk.TryLock(filepath.Join(h.dir, serveLock))
	if err != nil {
		return errors.Join(errServed(err), l.Close())
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	var background sync.WaitGroup
	defer background.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	background.Go(func() { h.recheck(ctx) })
	background.Go(func() { h.events.Run(ctx) })
	if h.ready != nil {
		h.ready(l.Addr())
	}
	return h.door.Serve(ctx, l)
}

func (h *Hub) recheck(ctx context.Context) {
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	var known *devices.Members
	var looking, reading, judging outage
	seen := h.newSight()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := h.spaces.Look(ctx); ctx.Err() == nil && looking.isNews(err) {
			h.log.Error("look for purges", "err", err)
		}
		h.look(&seen, &judging)
		m, err := h.members.Now()
		if reading.isNews(err) {
			h.log.Error("read the member list", "err", err)
		}
		if err == nil && m != known {
			known = m
			h.door.Recheck()
			h.news.tell()
		}
	}
}

// An outage is a failure of what is done again and again. It is told once, and
// again when it comes back.
type outage struct{ said string }

// isNews takes how it went this time, and says whether that is to be told.
func (o *outage) isNews(err error) bool {
	before := o.said
	o.said = ""
	if err != nil {
		o.said = err.Error()
	}
	return err != nil && o.said != before
}

// Close releases the hub's files. Serve must have ended.
func (h *Hub) Close() error {
	h.trials.Close()
	if err := h.spaces.Close(); err != nil {
		return fmt.Errorf("close the hub: %w", err)
	}
	return nil
}
