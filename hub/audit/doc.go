// Package audit is a hub's record of what was decided: one line of JSON for
// each push, enrolment and act of administration, in a file for each month; and
// of the hook in front of another server's repository, in one File that is
// bounded.
//
// A record says who, from where, what and with which outcome. It has no member
// that could hold the text of a note or of a finding. Records are only ever
// added; removing old files is the operator's business.
package audit
