// Package members keeps the list of the devices of the hub that a machine has
// joined, as the hub signed it, in one file of the home. The list only goes
// forward. Without one every device counts as known.
package members
