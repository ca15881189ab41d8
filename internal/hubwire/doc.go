// Package hubwire is what a hub and a machine say to each other over SSH
// beside git's own protocol: the commands, and their questions and answers as
// JSON.
//
// The commands are
//
//	whoami            one Whoami
//	spaces            one array of SpaceInfo
//	watch SPACE...    one Line for each change, until either side ends it
//	enrol             an EnrolRequest on the input, an Enrolled as the answer
//	renew             a RenewRequest on the input, a Renewed as the answer
//	roster            a RosterAnswer
//	policy            a PolicyRequest on the input, a PolicyAnswer as the answer
//
// and, on the message lines of a push, one Refusal for each finding; in its
// advert and its options a Lease; in all adverts what is Told.
//
// It holds forms only. What is allowed is the hub's business, what to do about
// an answer the machine's. It promises that whatever a Refusal prints reads
// back equal, and that none of these forms can carry a text that was refused.
package hubwire
