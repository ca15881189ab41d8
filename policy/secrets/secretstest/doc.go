// Package secretstest makes secrets for tests: one or more for every rule of
// package secrets, with the right form and checksums and nothing behind them;
// the ways people hide or merely format them; and clean text of the kinds that
// scanners trip over. All of it is put together at run time from a source of
// randomness, so that no file in the repository holds anything like a token.
//
// It does not use the rules, so that it can disagree with them.
package secretstest
