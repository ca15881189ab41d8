// Package hook is the hub's gate in front of a repository that another git
// server keeps: stock git, Gitea, Forgejo, GitLab. Git runs it before it takes
// a push, while what arrived lies in quarantine, and obeys its verdict.
//
// It judges as the hub does: every object that arrived, whether a ref leads to
// it or not; every commit, made again and compared; every signature; and every
// commit that the branch would gain, also one that the server had stored
// before. Only refs/heads/main is taken, and only forward. It joins nothing,
// knows no members, and writes nothing: who may connect is the server's
// business, and whose events are taken is a list of keys at most.
//
// It promises to fail closed. What it cannot read, understand or finish in
// time is refused. It does not keep git from unpacking what arrives before it
// is asked: receive.maxInputSize and GIT_ALLOC_LIMIT bound what that may cost.
package hook
