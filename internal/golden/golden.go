package golden

// A Set is questions, and the notes they are about if it brings any.
type Set struct {
	Name      string
	Notes     []Note
	Questions []Question
}

// A Note is one note of a set. It has a title or a text.
type Note struct {
	ID    string // as questions name it; unique in its set
	Title string
	Text  string
	Tags  []string
}

// A Question is what is asked and what must be found.
type Question struct {
	Text string
	// Find are the notes, all of them. In a set with notes they are ids of
	// those; in one without, whatever the file says: ids or titles. Empty means
	// that nothing may be found.
	Find         []string
	Class        string // empty if it has none
	Line, Column int    // where it stands in the file, from 1
}
