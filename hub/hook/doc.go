// Package hook is the hub's gate in front of a repository that another git
// server keeps: stock git, Gitea, Forgejo, GitLab. Git runs it before it takes
// a push, while what arrived lies in quarantine, and obeys its verdict.
//
// It judges as the hub does: every object that arrived, whether a ref leads to
// it or not; every commit, made again and compared; every signature; and every
// commit that the branch would gain, also one that the server had stored
// before. Only refs/heads/main is taken, and only forward. Whose events are taken
// it is told: by a list of keys, or by the list of devices that a hub has signed,
// together with the signed versions of the team's policy. It joins nothing and
// writes nothing but its records: who may connect is the server's business.
//
// It promises to fail closed. What it cannot read, understand or finish in
// time is refused. It does not keep git from unpacking what arrives before it
// is asked: receive.maxInputSize and GIT_ALLOC_LIMIT bound what that may cost.
package hook
