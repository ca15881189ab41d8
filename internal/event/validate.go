package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/internal/lazyregexp"
)

// Limits on single fields, in bytes.
const (
	maxName    = 256  // titles of keys, categories, projects, files, tags
	maxLine    = 2000 // summaries, reasons, sources
	maxTags    = 64
	maxSupport = 64
	maxSpans   = 64
)

var (
	spaceName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,62}$`)
	hashForm  = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// ValidSpaceName says whether name can name a space: lower-case letters,
// digits and dashes, at most 63 of them, no dash first.
func ValidSpaceName(name string) bool { return spaceName().MatchString(name) }

// Validate checks every field against the format. It returns the first fault
// as *InvalidError, *TooBigError or *NotUTF8Error.
func (e Event) Validate() error {
	c := &checker{}
	c.envelope(e)
	if e.Payload == nil {
		c.fail("payload", "is missing")
		return c.err
	}
	c.require(e.Payload.Kind() == e.Kind, "payload", "does not fit the kind")
	c.require(e.Subject == e.Payload.Subject(), "subject", "does not follow from the payload")
	e.Payload.check(c)
	if c.err == nil && c.text > MaxText {
		return &TooBigError{Field: "text", Size: c.text, Max: MaxText}
	}
	return c.err
}

// checker keeps the first fault and counts the bytes of text.
type checker struct {
	err  error
	text int
}

func (c *checker) fail(field, reason string) {
	if c.err == nil {
		c.err = &InvalidError{Field: field, Reason: reason}
	}
}

func (c *checker) require(ok bool, field, reason string) {
	if !ok {
		c.fail(field, reason)
	}
}

func (c *checker) envelope(e Event) {
	c.require(e.Schema == Schema, "schema", fmt.Sprintf("must be %d", Schema))
	c.id("id", e.ID, true)
	c.require(NewPayload(e.Kind) != nil, "kind", "no such kind of event")
	c.require(ValidSpaceName(e.Space), "space", "is not a space name")
	c.line("ref", e.Ref, maxName, true)
	c.require(!e.Observed.IsZero(), "observed", "is missing")
	c.actor(e.Actor)
	c.line("subject.id", e.Subject.ID, 2*maxName+1, false)
	c.id("parent", e.Parent, false)
	c.id("chain", e.Chain, false)
	c.oneOf("layer", string(e.Layer), "working", "episodic", "semantic", "personal", "skill", "protocol")
	c.oneOf("authority.source", e.Authority.Source, "user", "agent", "import", "system")
	if s := e.Authority.Score; s != nil {
		c.require(*s >= 0 && *s <= 1, "authority.score", "lies outside 0 to 1")
	}
	c.line("authority.attested_by", e.Authority.AttestedBy, maxName, false)
	c.oneOf("classification", string(e.Classification), "public", "private", "secret")
	c.line("project", e.Project, 4*maxName, false)
	c.require(len(e.Tags) <= maxTags, "tags", fmt.Sprintf("are more than %d", maxTags))
	for i, t := range e.Tags {
		c.line(fmt.Sprintf("tags[%d]", i), t, maxName, true)
	}
	c.line("key", e.Key, 2*maxName, false)
	c.require(e.Policy >= 0, "policy", "is negative")
}

func (c *checker) actor(a Actor) {
	c.oneOf("actor.kind", string(a.Kind), "agent", "human", "system")
	c.line("actor.id", a.ID, maxName, true)
	c.line("actor.harness", a.Harness, maxName, false)
	if _, err := ParseDeviceID(string(a.Device)); err != nil {
		c.fail("actor.device", "is not a device id")
	}
}

func (c *checker) id(field string, id ID, required bool) {
	if id == "" && !required {
		return
	}
	if _, err := ParseID(string(id)); err != nil {
		c.fail(field, "is not an event id")
	}
}

func (c *checker) oneOf(field, v string, allowed ...string) {
	for _, a := range allowed {
		if v == a {
			return
		}
	}
	c.fail(field, "must be one of "+strings.Join(allowed, ", "))
}

// line checks a short text without line breaks or other control characters.
func (c *checker) line(field, v string, limit int, required bool) {
	c.body(field, v, required)
	if c.err != nil {
		return
	}
	if len(v) > limit {
		c.err = &TooBigError{Field: field, Size: len(v), Max: limit}
		return
	}
	c.require(strings.IndexFunc(v, unicode.IsControl) < 0, field, "has a line break or control character")
}

// body checks a text of any length; the sum of all bodies is limited.
func (c *checker) body(field, v string, required bool) {
	if c.err != nil {
		return
	}
	c.text += len(v)
	if !utf8.ValidString(v) {
		c.err = &NotUTF8Error{Field: field}
		return
	}
	c.require(v != "" || !required, field, "is empty")
}

func (p *Observe) check(c *checker) {
	c.line("payload.summary", p.Summary, maxLine, true)
	c.body("payload.content", p.Content, false)
	c.line("payload.content_ref", p.ContentRef, maxLine, false)
	c.line("payload.source", p.Source, maxLine, false)
	c.id("payload.supersedes", p.Supersedes, false)
}

func (p *Claim) check(c *checker) {
	c.line("payload.schema_type", p.SchemaType, maxName, true)
	c.line("payload.key", p.Key, maxName, true)
	c.body("payload.content", p.Content, true)
	c.id("payload.supersedes", p.Supersedes, false)
	c.require(len(p.SupportRefs) <= maxSupport, "payload.support_refs", fmt.Sprintf("are more than %d", maxSupport))
	for i, s := range p.SupportRefs {
		field := fmt.Sprintf("payload.support_refs[%d]", i)
		c.id(field+".event", s.Event, true)
		c.body(field+".excerpt", s.Excerpt, false)
	}
	if p.ValidFrom != nil && p.ValidTo != nil {
		c.require(!p.ValidTo.Before(p.ValidFrom.Time), "payload.valid_to", "lies before valid_from")
	}
}

func (p *Lesson) check(c *checker) {
	c.line("payload.category", p.Category, maxName, true)
	c.body("payload.text", p.Text, true)
	c.oneOf("payload.transition", string(p.Transition), "add", "modify", "retire", "promote", "decay")
}

func (p *Pref) check(c *checker) {
	c.line("payload.category", p.Category, maxName, true)
	c.line("payload.key", p.Key, maxName, true)
	c.body("payload.value", p.Value, true)
	c.body("payload.previous_value", p.PreviousValue, false)
}

func (p *SkillEdit) check(c *checker) {
	c.line("payload.skill_name", p.SkillName, maxName, true)
	c.line("payload.file", p.File, 4*maxName, true)
	c.oneOf("payload.edit_kind", p.EditKind, "create", "modify", "delete")
	c.require(hashForm().MatchString(p.ContentHash), "payload.content_hash", "is not sha256: and 64 hex digits")
	c.line("payload.reason", p.Reason, maxLine, false)
}

func (p *Verify) check(c *checker) {
	c.id("payload.target", p.Target, true)
	c.body("payload.attestation", p.Attestation, false)
	c.oneOf("payload.verdict", string(p.Verdict), "confirmed", "refuted", "uncertain")
}

func (p *Archive) check(c *checker) {
	c.id("payload.target", p.Target, true)
	c.oneOf("payload.direction", p.Direction, DirectionArchive, DirectionRestore)
	c.line("payload.reason", p.Reason, maxLine, false)
}

func (p *Redact) check(c *checker) {
	c.id("payload.target", p.Target, true)
	c.line("payload.reason", p.Reason, maxLine, true)
	c.line("payload.triggered_by_pattern", p.TriggeredByPattern, maxName, false)
	c.require(len(p.RedactedSpans) <= maxSpans, "payload.redacted_spans", fmt.Sprintf("are more than %d", maxSpans))
	for i, s := range p.RedactedSpans {
		field := fmt.Sprintf("payload.redacted_spans[%d]", i)
		c.line(field+".field", s.Field, maxName, true)
		c.line(field+".replacement", s.Replacement, maxLine, false)
	}
}

func (p *Import) check(c *checker) {
	c.line("payload.source_kind", p.SourceKind, maxName, true)
	c.line("payload.source_ref", p.SourceRef, maxLine, true)
	c.require(p.ItemCount >= 0, "payload.item_count", "is negative")
	c.require(hashForm().MatchString(p.ManifestHash), "payload.manifest_hash", "is not sha256: and 64 hex digits")
}

func (p *Audit) check(c *checker) {
	c.line("payload.kind", p.What, maxName, true)
	c.body("payload.detail", p.Detail, false)
	c.line("payload.target", p.Target, maxLine, false)
}
