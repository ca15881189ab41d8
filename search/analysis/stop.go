package analysis

import "strings"

// IsStop says that a folded word says nothing about what a text is about. A
// question asks for such words only when it has no others.
func IsStop(word string) bool { return stopWords[word] }

var stopWords = setOf(`a an the this that these those
	i me my we us our ours you your yours he him his she her hers it its they them their theirs
	who whom whose which what when where why how
	am is are was were be been being do does did doing done have has had having
	can could should would will shall may might must
	and or but if than so then because as of at by for with about into to from in on off out over under up down
	not no nor too very just also there here again once only own same
	dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt
	im ive id ill youre youve weve theyre thats whats theres lets
	any some such each both few many much more most other all
	please tell show give find let get got come comes came`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
