// Package metrics counts what a program does and tells it in the text format of
// Prometheus, on a loopback address.
//
// It has what a hub needs and no more: counters with labels, values that are
// looked up when somebody asks, and histograms. A counter keeps a bounded
// number of series however many values its labels take. Nothing in it is meant
// for words of users: a label is a verdict, the name of a rule or of a space.
package metrics
