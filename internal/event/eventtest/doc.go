// Package eventtest makes valid events for tests, by hand and at random.
package eventtest
