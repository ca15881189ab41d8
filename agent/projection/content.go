package projection

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	"cairn/internal/event"
)

// Content is a digest of what an event says, as far as saying it again would
// be saying the same: its kind, its project, and the words and ids in its
// payload. When and by whom, tags, and where it was read do not count.
type Content [16]byte

// ContentOf is the content of e.
func ContentOf(e event.Event) Content {
	h := sha256.New()
	write(h, string(e.Kind), e.Project)
	write(h, said(e)...)
	return sum(h)
}

// Key is the idempotency key of an event whose writer gives none, so that the
// same thing said twice is one event. Preferences and claims have none: what
// counts there is the order, A to B and back to A is three events. Nor have
// judgements and other acts, which may be repeated.
func Key(e event.Event) string {
	switch e.Kind {
	case event.KindObserve, event.KindLesson, event.KindSkillEdit, event.KindImport:
		c := ContentOf(e)
		return "content:" + hex.EncodeToString(c[:])
	default:
		return ""
	}
}

func keyDigest(key string) Content {
	if key == "" {
		return Content{}
	}
	h := sha256.New()
	write(h, key)
	return sum(h)
}

// write puts the length before each part, so that no two lists of parts look
// the same.
func write(h hash.Hash, parts ...string) {
	for _, p := range parts {
		io.WriteString(h, strconv.Itoa(len(p))+":")
		io.WriteString(h, p)
	}
}

func sum(h hash.Hash) (c Content) {
	copy(c[:], h.Sum(nil))
	return c
}

func said(e event.Event) []string {
	switch p := e.Payload.(type) {
	case *event.Observe:
		return []string{p.Title(), p.Body(), string(p.Supersedes)}
	case *event.Claim:
		return []string{p.Key, p.Content, string(p.Supersedes), when(p.ValidFrom), when(p.ValidTo)}
	case *event.Lesson:
		return lessonSaid(p, e.Parent)
	case *event.Pref:
		return []string{p.Category, p.Key, p.Value}
	case *event.SkillEdit:
		return []string{p.SkillName, p.File, p.EditKind, p.ContentHash, p.Reason}
	case *event.Verify:
		return []string{string(p.Target), string(p.Verdict), p.Attestation}
	case *event.Archive:
		return []string{string(p.Target), p.Direction, p.Reason}
	case *event.Redact:
		return []string{string(p.Target), p.Reason}
	case *event.Import:
		return []string{p.SourceKind, p.SourceRef, p.ManifestHash}
	case *event.Audit:
		return []string{p.What, p.Detail, p.Target}
	default:
		return nil
	}
}

func lessonSaid(p *event.Lesson, parent event.ID) []string {
	if p.Transition == event.LessonAdd {
		return []string{p.Category, p.Text}
	}
	rank := ""
	if p.Rank != nil {
		rank = strconv.Itoa(*p.Rank)
	}
	return []string{p.Category, p.Text, string(p.Transition), string(parent), rank}
}

func when(t *event.Time) string {
	if t == nil {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
