// Package device keeps the one key that makes a machine a device: ed25519, in
// an OpenSSH file that stock ssh can use as well. The key signs every event
// and logs in at the hub.
package device
