// Package repository keeps a hub's git repositories, one for each space, and
// serves them over any stream: fetches, and pushes whose every object is
// looked at before it becomes visible.
//
// Who is at the other end, and what they may do, is settled before; what an
// event may say is a judgement passed in with the push. Bytes on disk, git's
// protocol, the graph of commits and the form of commits belong to the
// packages under sync.
//
// It promises:
//   - A push is taken whole or leaves nothing behind.
//   - A push to refs/for/main never loses a race: it is joined with whatever came
//     first. A push to refs/heads/main only ever moves the branch forward.
//   - A refusal names every rule that was broken, the commit, the path and the
//     event, and never a byte of what was found.
//   - What a push did is told to watchers after it is durable.
package repository
