// Package projection says what is current in one space: which preference is
// in force, what was archived, superseded, redacted or has run out, and who
// holds an idempotency key.
//
// The answer is a function of the set of events and of the View, which says
// when it is asked. Events may come in any order, twice, or in parts: two
// machines that hold the same events give the same answers. Git history is only
// how they travelled. An event of a clock that runs far ahead is in the set and
// decides nothing before its time has come, without anybody having to remember
// it until then.
//
// Of each event a Set keeps a small record, a Fact, and no text, so that the
// records of a whole space stay in memory and load in one read. A File holds
// them between runs; it may be deleted at any time, since the log can tell
// everything again.
//
// It leaves out on purpose where events come from (agent/catchup), the texts
// (sync/eventlog), and ranking (search).
package projection
