package analysis

import "strings"

// irregular maps English forms that no rule leads back to the word they are a
// form of. Forms that are also words of their own, such as left or saw, are
// not among them.
var irregular = formsOf(`
	become became
	begin began begun
	bite bit bitten
	blow blew blown
	break broke broken
	bring brought
	build built
	buy bought
	catch caught
	choose chose chosen
	come came
	deal dealt
	do did done
	draw drew drawn
	drink drank drunk
	drive drove driven
	eat ate eaten
	fall fallen
	feel felt
	fight fought
	find found
	fly flew flown
	forget forgot forgotten
	freeze froze frozen
	get got gotten
	give gave given
	go went gone
	grow grew grown
	hang hung
	have had
	hear heard
	hide hid hidden
	hold held
	keep kept
	know knew known
	lead led
	lend lent
	lose lost
	make made
	meet met
	override overrode overridden
	overwrite overwrote overwritten
	pay paid
	rewrite rewrote rewritten
	ride rode ridden
	run ran
	say said
	see seen
	sell sold
	send sent
	shake shook shaken
	shrink shrank shrunk
	sing sang sung
	sink sank sunk
	sleep slept
	speak spoke spoken
	spend spent
	stand stood
	steal stole stolen
	stick stuck
	swim swam
	take took taken
	teach taught
	tell told
	think thought
	throw threw thrown
	understand understood
	wake woke woken
	wear wore worn
	win won
	withdraw withdrew withdrawn
	write wrote written

	appendix appendices
	child children
	foot feet
	index indices
	knife knives
	leaf leaves
	life lives
	man men
	matrix matrices
	mouse mice
	person people
	tooth teeth
	vertex vertices
	wife wives
	woman women
`)

func formsOf(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for i := 1; i < len(words); i++ {
			out[words[i]] = words[0]
		}
	}
	return out
}
