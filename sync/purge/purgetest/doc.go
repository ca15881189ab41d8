// Package purgetest finds what a purge has left: it looks for words in every
// byte of a folder, also within whatever zlib has compressed, and knows nothing
// of the formats in which they are stored. It also plays the start of a system
// after a power cut, as far as lock files go.
package purgetest
