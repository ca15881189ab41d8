package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/problem"
)

// Resolve finds the event that ref names, a full id or a part of it, in any
// space, or only in the given one.
func (s *Service) Resolve(ctx context.Context, ref, spaceName string) (event.ID, string, error) {
	spaces, err := s.chosen(spaceName)
	if err != nil {
		return "", "", err
	}
	sp, id, err := find(spaces, ref)
	if errors.Is(err, projection.ErrUnknown) {
		// Another process may have appended it just now.
		for _, sp := range spaces {
			if err := s.levelFacts(ctx, sp); err != nil {
				return "", "", Problem(err)
			}
		}
		sp, id, err = find(spaces, ref)
	}
	if err != nil {
		return "", "", Problem(err)
	}
	return id, sp.name, nil
}

func (s *Service) levelFacts(ctx context.Context, sp *space) error {
	head, err := sp.log.Head()
	if err != nil {
		return err
	}
	return sp.kept.LevelFacts(ctx, head)
}

// find is the one event in these spaces that ref names.
func find(spaces []*space, ref string) (in *space, id event.ID, err error) {
	for _, sp := range spaces {
		found, err := sp.find(ref)
		if errors.Is(err, projection.ErrUnknown) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if in != nil {
			return nil, "", &projection.AmbiguousError{Ref: ref, IDs: []event.ID{id, found}}
		}
		in, id = sp, found
	}
	if in == nil {
		return nil, "", projection.ErrUnknown
	}
	return in, id, nil
}

func (sp *space) find(ref string) (id event.ID, err error) {
	sp.kept.Facts(func(set *projection.Set) { id, err = set.Resolve(ref) })
	if errors.Is(err, projection.ErrUnknown) {
		if bad := sp.damaged(ref); bad != nil {
			return "", bad
		}
	}
	return id, err
}

// damaged is the event that ref names and that no fact tells of, because its
// bytes are damaged; nil if there is none.
func (sp *space) damaged(ref string) error {
	part := strings.ToLower(strings.TrimPrefix(ref, "~"))
	for _, bad := range sp.kept.Damaged() {
		id := string(bad.ID)
		if id != "" && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part)) {
			return bad
		}
	}
	return nil
}

// A reference is an id in an event, as its writer gave it.
type reference struct {
	field string
	id    *event.ID
	must  bool // name an event that is here
}

func referencesOf(e *event.Event) []reference {
	refs := []reference{{"parent", &e.Parent, false}, {"chain", &e.Chain, false}}
	switch p := e.Payload.(type) {
	case *event.Observe:
		refs = append(refs, reference{"payload.supersedes", &p.Supersedes, false})
	case *event.Claim:
		refs = append(refs, reference{"payload.supersedes", &p.Supersedes, false})
		for i := range p.SupportRefs {
			refs = append(refs, reference{fmt.Sprintf("payload.support_refs[%d].event", i), &p.SupportRefs[i].Event, false})
		}
	case *event.Verify:
		refs = append(refs, reference{"payload.target", &p.Target, true})
	case *event.Archive:
		refs = append(refs, reference{"payload.target", &p.Target, true})
	case *event.Redact:
		refs = append(refs, reference{"payload.target", &p.Target, true})
	}
	return refs
}

// actsOn is the reference by which the payload changes what another event
// counts for; empty if there is none. The event belongs where that one is.
func actsOn(p event.Payload, parent event.ID) event.ID {
	switch p := p.(type) {
	case *event.Observe:
		return p.Supersedes
	case *event.Claim:
		return p.Supersedes
	case *event.Lesson:
		return parent
	case *event.Verify:
		return p.Target
	case *event.Archive:
		return p.Target
	case *event.Redact:
		return p.Target
	default:
		return ""
	}
}

// resolveRefs makes full ids of short ones. A full id may be of an event that
// has not arrived here yet, unless the event acts on it or it is in another
// space, where acting on it from here would change nothing.
func (s *Service) resolveRefs(sp *space, e *event.Event) error {
	for _, r := range referencesOf(e) {
		if *r.id == "" {
			continue
		}
		id, err := sp.find(string(*r.id))
		if err == nil {
			*r.id = id
			continue
		}
		if _, full := event.ParseID(string(*r.id)); full == nil && !r.must && errors.Is(err, projection.ErrUnknown) {
			if r.field == "payload.supersedes" && s.elsewhere(sp, *r.id) {
				return wrongSpace(r.field)
			}
			continue
		}
		return unresolved(err, r.field)
	}
	return nil
}

func (s *Service) elsewhere(sp *space, id event.ID) bool {
	spaces, err := s.chosen("")
	if err != nil {
		return false
	}
	in, _, err := find(spaces, string(id))
	return err == nil && in != sp
}

func wrongSpace(field string) error {
	return &problem.Problem{
		Code: problem.Usage, Field: field, Message: "the event to supersede is in another space; nothing was saved",
		Hint: "save into the space that has it, or leave the space out",
	}
}

func unresolved(err error, field string) error {
	p := problem.Of(Problem(err))
	p.Field = field
	return p
}
