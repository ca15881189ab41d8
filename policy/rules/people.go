package rules

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"cairn/internal/invite"
)

const (
	everyone    = "*"
	groupPrefix = "group:"
)

// groups reads the names that stand for several people.
func (f *File) groups(top section) {
	n := top.value["groups"]
	f.Groups = map[string][]string{}
	if n == nil {
		return
	}
	s, ok := top.section("groups", n)
	if !ok {
		return
	}
	s.entries(func(key, _ *yaml.Node) {
		if !invite.ValidPerson(key.Value) {
			s.at(key, s.where, "%s is no name of a group: use lower-case letters, digits and dashes, 39 at most", s.quote(key))
			return
		}
		f.Groups[key.Value] = s.words(key.Value, "people", func(text string) error {
			if strings.HasPrefix(text, groupPrefix) {
				return errors.New("is a group: a group lists people")
			}
			return validPerson(text)
		})
	})
}

func (f *File) groupNames() []string { return slices.Sorted(maps.Keys(f.Groups)) }

// people reads a list of people and groups.
func (f *File) people(s section, key string) []string {
	return s.words(key, `people, group:NAME or "*"`, func(text string) error {
		group, isGroup := strings.CutPrefix(text, groupPrefix)
		_, known := f.Groups[group]
		switch {
		case text == everyone, isGroup && known:
			return nil
		case isGroup:
			return errors.New("is no group" + meant(group, "groups", f.groupNames()))
		case known:
			return errors.New("is a group; write " + groupPrefix + text)
		}
		if err := validPerson(text); err != nil {
			return f.maybeGroup(text, err)
		}
		return nil
	})
}

// maybeGroup adds to an error which group the text may stand for.
func (f *File) maybeGroup(text string, err error) error {
	_, name, ok := strings.Cut(text, ":")
	if near := nearest(name, f.groupNames()); ok && near != "" {
		return errors.New("is no person; did you mean \"" + groupPrefix + near + "\"?")
	}
	return err
}

// People lists everyone whom the file names, in order.
func (f *File) People() []string {
	all := slices.Clone(f.Admins)
	for _, members := range f.Groups {
		all = append(all, members...)
	}
	for _, s := range f.Spaces {
		for _, list := range [][]string{s.Read, s.Write, s.Admin, s.Redact} {
			for _, entry := range list {
				if entry != everyone && !strings.HasPrefix(entry, groupPrefix) {
					all = append(all, entry)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
