package localapi

import (
	"cairn/agent/api"
	"cairn/internal/problem"
)

// protocol is the number in the paths of the methods. It goes up when an old
// and a new program could misunderstand each other.
const protocol = 1

const (
	pingPath    = "/ping"
	stopPath    = "/stop"
	methodsPath = "/v1/"
)

// maxBody is the largest request, and the largest frame of a stream: an event
// of the greatest size with every byte of it escaped fits.
const maxBody = 16 << 20

// Info is what an agent says of itself.
type Info struct {
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Home     string `json:"home"`
	Protocol int    `json:"protocol"` // filled in by the handler
}

// failure is the body of every answer that is not a result.
type failure struct {
	Error *problem.Problem `json:"error"`
}

// The requests of methods that take something other than one value of
// agent/api.
type (
	nothing     struct{}
	showRequest struct {
		Ref     string `json:"ref"`
		History bool   `json:"history"`
	}
	exportRequest struct {
		Space string `json:"space"`
	}
	digestRequest struct {
		Max int `json:"max"`
	}
	doctorRequest struct {
		Deep bool `json:"deep"`
	}
	dismissRequest struct {
		Ref string `json:"ref"`
	}
	spaceRequest struct {
		Name string `json:"name"`
	}
	joinRequest struct {
		Invite string `json:"invite"`
	}
	remoteRequest struct {
		Space string `json:"space"`
		Name  string `json:"name"`
	}
)

// The names of the methods, each the last part of its path.
const (
	remember     = "remember"
	importMany   = "import"
	ask          = "ask"
	list         = "log"
	show         = "show"
	export       = "export"
	digest       = "digest"
	status       = "status"
	doctor       = "doctor"
	embedMissing = "embed"
	refused      = "refused"
	dismiss      = "dismiss"
	createSpace  = "create-space"
	join         = "join"
	syncNow      = "sync"
	remotes      = "remotes"
	addRemote    = "add-remote"
	removeRemote = "remove-remote"
)

var _ api.Agent = (*Client)(nil)
