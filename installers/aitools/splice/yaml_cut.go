package splice

import "go.yaml.in/yaml/v3"

func (yamlSyntax) cut(text []byte, e Entry) ([]Edit, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, err
	}
	path := e.Path
	if !e.Item {
		path = path[:len(path)-1]
	}
	at := yamlDescend(root, path)
	if len(at.missing) > 0 || at.value.Style&yaml.FlowStyle != 0 {
		return nil, ErrNotCut
	}
	first, last := yamlLinesOf(at.value, e)
	if first == 0 {
		return nil, ErrNotCut
	}
	start, end := yamlLineStart(text, first), yamlLineStart(text, last+1)
	return []Edit{{At: start, Cut: end - start}}, nil
}

// yamlLinesOf finds the first and the last line of an entry in its parent; 0 if it is not there.
func yamlLinesOf(parent *yaml.Node, e Entry) (first, last int) {
	if !e.Item {
		i := yamlIndex(parent, e.Path[len(e.Path)-1])
		if i < 0 {
			return 0, 0
		}
		return parent.Content[i].Line, yamlLastLine(parent.Content[i+1])
	}
	for _, item := range parent.Content {
		var value any
		if err := item.Decode(&value); err == nil && stateOf(value, e) != Foreign {
			return item.Line, yamlLastLine(item)
		}
	}
	return 0, 0
}

// yamlLastLine is the last line on which a value below n starts. A value may end further down; then the cut leaves
// something behind, which the check of every cut finds.
func yamlLastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, yamlLastLine(child))
	}
	return last
}
