// Package audit is a hub's record of what was decided: one line of JSON for
// each push, enrolment and act of administration, in a file for each month.
//
// A record says who, from where, what and with which outcome. It has no member
// that could hold the text of a note or of a finding. Records are only ever
// added; removing old files is the operator's business.
package audit
