// Package dryrun tries a policy file on everything that a hub holds, before the
// file comes into force: it counts what would be refused that passes now, what
// would pass that is refused now, and names the first of them.
//
// It runs beside all else: with no lock that a push needs, one file at a time, in
// bounded memory and time. Whoever asks waits as long as they like and finds
// what was tried so far; the run goes on, and the next who asks about the same
// file finds it further. What has come since is tried when somebody asks again.
//
// It changes nothing. Who may see what it found is its caller's business.
package dryrun
