package paths

import (
	"errors"
	"path/filepath"
)

// EnvHome is the variable that names the home instead of the default.
const EnvHome = "CAIRN_HOME"

// ErrNoHome means that the system does not say where the user's files are.
var ErrNoHome = errors.New("no home folder is known: set CAIRN_HOME or use --home")

// A Home is the absolute path of the folder that holds one memory.
type Home string

// Find is the home to use: flag if given, else CAIRN_HOME, else .cairn in the
// user's folder. goos and getenv are the system's, so that every system can
// be asked about on every system.
func Find(flag, goos string, getenv func(string) string) (Home, error) {
	for _, dir := range []string{flag, getenv(EnvHome)} {
		if dir != "" {
			abs, err := filepath.Abs(dir)
			return Home(abs), err
		}
	}
	user := getenv("HOME")
	if goos == "windows" {
		user = getenv("USERPROFILE")
	}
	if user == "" {
		return "", ErrNoHome
	}
	return Home(filepath.Join(user, ".cairn")), nil
}

func (h Home) join(elem ...string) string {
	return filepath.Join(append([]string{string(h)}, elem...)...)
}

// Config is the configuration file.
func (h Home) Config() string { return h.join("config.json") }

// DeviceKey is the device's private key, an OpenSSH key file.
func (h Home) DeviceKey() string { return h.join("device_key") }

// NextKey is the device's next private key, while it is being enrolled in place
// of the present one.
func (h Home) NextKey() string { return h.join("device_key.new") }

// Pushed is what this machine remembers of its pushes of a space to the hub. It
// must not be copied to another machine.
func (h Home) Pushed(space string) string { return h.join("pushed", space+".json") }

// OwnerLock is the lock of the process that owns the home.
func (h Home) OwnerLock() string { return h.join("owner.lock") }

// Spaces is the folder of the replicas.
func (h Home) Spaces() string { return h.join("spaces") }

// Space is the bare repository that is the replica of a space.
func (h Home) Space(name string) string { return h.join("spaces", name+".git") }

// Index is the folder of the full-text index. It can be deleted at any time.
func (h Home) Index() string { return h.join("index") }

// Facts is the file of what is known of a space's events. It can be deleted
// at any time.
func (h Home) Facts(space string) string { return h.join("facts", space) }

// Refused is the list of events that a gate refused.
func (h Home) Refused() string { return h.join("refused.json") }

// Judged is what the events of each space were judged by last. It can be deleted
// at any time.
func (h Home) Judged() string { return h.join("judged.json") }

// Policy is the team's policy as the hub showed it last.
func (h Home) Policy() string { return h.join("policy.json") }

// Members is the hub's list of devices, as it signed it last.
func (h Home) Members() string { return h.join("members.json") }

// Parked is the folder of events that the hub refused, kept outside the log.
func (h Home) Parked(space string) string { return h.join("parked", space) }

// Connect is the folder of what was changed in the files of AI tools.
func (h Home) Connect() string { return h.join("connect") }

// Digest is the digest as the agent last had it, for when no agent runs. It
// can be deleted at any time.
func (h Home) Digest() string { return h.join("digest") }

// Told is the folder of notes about which sessions of AI tools have been told
// the digest. It can be deleted at any time.
func (h Home) Told() string { return h.join("told") }

// AgentLog is where an agent in the background writes its log.
func (h Home) AgentLog() string { return h.join("agent.log") }

// Recall is what is kept of the last run over a file of questions. It can be
// deleted at any time.
func (h Home) Recall(name string) string { return h.join("recall", name+".json") }
