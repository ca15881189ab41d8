package golden

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The members of a set, a note and a question. The first name of each is the
// one to use; the others are those of published sets.
var (
	setMembers      = members{"name": {}, "notes": {"docs"}, "questions": {"queries"}}
	noteMembers     = members{"id": {}, "title": {}, "text": {"body"}, "tags": {}}
	questionMembers = members{"question": {"q"}, "find": {"rel"}, "class": {"cat"}}
)

// none is what a question finds that must find nothing.
const none = "none"

// Parse reads a file. The error is an *Error.
func Parse(data []byte) ([]Set, error) {
	root, err := treeOf(data)
	if err != nil {
		return nil, err
	}
	list := []*yaml.Node{root}
	if root.Kind == yaml.SequenceNode {
		list = root.Content
	}
	var sets []Set
	asked := 0
	for _, n := range list {
		s, err := setOf(n)
		if err != nil {
			return nil, err
		}
		asked += len(s.Questions)
		sets = append(sets, s)
	}
	if asked == 0 {
		return nil, at(root, "there are no questions")
	}
	return sets, nil
}

func setOf(n *yaml.Node) (s Set, err error) {
	m, err := setMembers.read(n, "a set")
	if err != nil {
		return s, err
	}
	if s.Name, err = text(m["name"]); err != nil {
		return s, err
	}
	ids := map[string]bool{}
	err = each(m["notes"], func(n *yaml.Node) error {
		note, err := noteOf(n)
		if err == nil && ids[note.ID] {
			err = at(n, "another note has the id "+note.ID)
		}
		ids[note.ID] = true
		s.Notes = append(s.Notes, note)
		return err
	})
	if err != nil {
		return s, err
	}
	known := namesOf(s.Notes)
	err = each(m["questions"], func(n *yaml.Node) error {
		q, err := questionOf(n, known)
		s.Questions = append(s.Questions, q)
		return err
	})
	return s, err
}

// several stands for the id of a note whose title others have too.
const several = "\x00"

// namesOf are the names by which questions may call notes, and their ids.
func namesOf(notes []Note) map[string]string {
	names := map[string]string{}
	for _, n := range notes {
		if names[n.Title] != "" {
			names[n.Title] = several
		} else if n.Title != "" {
			names[n.Title] = n.ID
		}
	}
	for _, n := range notes {
		names[n.ID] = n.ID
	}
	return names
}

func noteOf(n *yaml.Node) (out Note, err error) {
	m, err := noteMembers.read(n, "a note")
	if err != nil {
		return out, err
	}
	for name, to := range map[string]*string{"id": &out.ID, "title": &out.Title, "text": &out.Text} {
		if *to, err = text(m[name]); err != nil {
			return out, err
		}
	}
	if out.Tags, err = texts(m["tags"]); err != nil {
		return out, err
	}
	if out.ID == "" {
		out.ID = out.Title
	}
	switch {
	case out.Title == "" && out.Text == "":
		return out, at(n, "the note has neither title nor text")
	case out.ID == "":
		return out, at(n, "the note has neither id nor title for questions to name it by")
	}
	return out, nil
}

// questionOf reads a question; known is empty for a set without notes.
func questionOf(n *yaml.Node, known map[string]string) (q Question, err error) {
	m, err := questionMembers.read(n, "a question")
	if err != nil {
		return q, err
	}
	q.Line, q.Column = n.Line, n.Column
	if q.Text, err = text(m["question"]); err != nil {
		return q, err
	}
	if q.Class, err = text(m["class"]); err != nil {
		return q, err
	}
	if strings.TrimSpace(q.Text) == "" {
		return q, at(n, "the question is empty")
	}
	if m["find"] == nil {
		return q, at(n, `"find" is missing: the ids or titles of the notes that must be found, or none`)
	}
	q.Find, err = findOf(m["find"], known)
	return q, err
}

func findOf(n *yaml.Node, known map[string]string) ([]string, error) {
	if n = plain(n); isNull(n) || n.Kind == yaml.ScalarNode && n.Value == none && known[none] == "" {
		return nil, nil
	}
	names, err := texts(n)
	if err != nil || len(known) == 0 {
		return names, err
	}
	var out []string
	for i, name := range names {
		id := known[name]
		switch id {
		case "":
			return nil, at(item(n, i), fmt.Sprintf("no note of this set has the id or title %q%s", name, meant(name, known)))
		case several:
			return nil, at(item(n, i), fmt.Sprintf("several notes have the title %q: name one by its id", name))
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

func item(n *yaml.Node, i int) *yaml.Node {
	if n = plain(n); n.Kind == yaml.SequenceNode {
		return n.Content[i]
	}
	return n
}
