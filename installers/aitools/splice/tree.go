package splice

import (
	"fmt"
	"maps"
	"slices"
)

// find looks e up in a decoded tree.
func find(tree any, e Entry) (State, error) {
	at, ok, err := lookup(tree, e.Path)
	if err != nil || !ok {
		return Absent, err
	}
	if !e.Item {
		return stateOf(at, e), nil
	}
	list, ok := at.([]any)
	if !ok {
		return Absent, fmt.Errorf("%v is not a list: %w", e.Path, ErrNoPlace)
	}
	state := Absent
	for _, item := range list {
		if s := stateOf(item, e); s != Foreign && (state == Absent || s == Current) {
			state = s
		}
	}
	return state, nil
}

// lookup walks down the tables. A key whose value is empty (null) counts as missing, except the last.
func lookup(tree any, path []string) (at any, ok bool, err error) {
	at = tree
	for i, key := range path {
		table, isTable := at.(map[string]any)
		if !isTable {
			return nil, false, fmt.Errorf("%v is not a table: %w", path[:i], ErrNoPlace)
		}
		if at, ok = table[key]; !ok || (at == nil && i < len(path)-1) {
			return nil, false, nil
		}
	}
	return at, at != nil, nil
}

func stateOf(value any, e Entry) State {
	switch want := plain(e.Value); {
	case covers(value, want):
		return Current
	case e.Ours != nil && !e.Ours(value):
		return Foreign
	case extends(value, want):
		return Edited
	default:
		return Outdated
	}
}

// plain turns Maps into map[string]any, so that what an entry asks for can be compared with what was decoded.
func plain(v any) any {
	switch v := v.(type) {
	case Map:
		out := map[string]any{}
		for _, p := range v {
			out[p.Key] = plain(p.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	default:
		return v
	}
}

// covers tells whether have says all that want says. Tables may say more.
func covers(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		table, ok := have.(map[string]any)
		for key, value := range want {
			got, there := table[key]
			ok = ok && there && covers(got, value)
		}
		return ok
	case []any:
		list, ok := have.([]any)
		return ok && slices.EqualFunc(list, want, covers)
	case string:
		return have == any(want)
	default:
		_, isString := have.(string)
		return !isString && fmt.Sprint(have) == fmt.Sprint(want)
	}
}

// extends tells whether have holds keys that want does not know.
func extends(have, want any) bool {
	table, ok := have.(map[string]any)
	if !ok {
		return false
	}
	known, _ := want.(map[string]any)
	for key := range table {
		if _, ok := known[key]; !ok {
			return true
		}
	}
	return false
}

// sameBut tells whether two trees say the same apart from e, and apart from empty tables on the way to it.
func sameBut(e Entry, with, without any) bool {
	return same(prune(with, e, e.Path), prune(without, e, e.Path))
}

// prune returns a copy of tree without the entry, and without the tables on the way to it that are empty then.
func prune(tree any, e Entry, path []string) any {
	if len(path) == 0 {
		return pruneLeaf(tree, e)
	}
	table, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	child, ok := table[path[0]]
	if !ok {
		return tree
	}
	table = maps.Clone(table)
	child = prune(child, e, path[1:])
	if empty(child) {
		delete(table, path[0])
	} else {
		table[path[0]] = child
	}
	return table
}

func pruneLeaf(value any, e Entry) any {
	if !e.Item {
		if stateOf(value, e) == Foreign {
			return value
		}
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		return value
	}
	return slices.DeleteFunc(slices.Clone(list), func(item any) bool { return stateOf(item, e) != Foreign })
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}

// same compares by content. Go prints maps in the order of their keys, and a printed NaN equals itself.
func same(a, b any) bool {
	return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b)
}
