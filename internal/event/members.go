package event

func (e *Event) members(f *form) {
	f.number("schema", &e.Schema)
	f.text("id", (*string)(&e.ID))
	f.text("kind", (*string)(&e.Kind))
	f.text("space", &e.Space)
	f.text("ref", &e.Ref)
	f.time("observed", &e.Observed)
	f.nested("actor", &e.Actor)
	f.nested("subject", &e.Subject)
	f.textOrNone("parent", (*string)(&e.Parent))
	f.textOrNone("chain", (*string)(&e.Chain))
	f.text("layer", (*string)(&e.Layer))
	f.nested("authority", &e.Authority)
	f.text("classification", (*string)(&e.Classification))
	f.textOrNone("project", &e.Project)
	list(f, "tags", &e.Tags, (*form).quoted)
	f.must(e.Tags != nil)
	f.text("key", &e.Key)
	f.number("policy", &e.Policy)
	f.payload("payload", e)
	orNone(f, "sig", &e.Sig, func(f *form, s *Signature) { f.object(s) })
}

func (a *Actor) members(f *form) {
	f.text("kind", (*string)(&a.Kind))
	f.text("id", &a.ID)
	f.textOrNone("harness", &a.Harness)
	f.text("device", (*string)(&a.Device))
}

func (s *Subject) members(f *form) {
	f.text("kind", &s.Kind)
	f.textOrNone("id", &s.ID)
}

func (a *Authority) members(f *form) {
	f.text("source", &a.Source)
	orNone(f, "score", &a.Score, (*form).float)
	f.textOrNone("attested_by", &a.AttestedBy)
}

func (s *Signature) members(f *form) {
	f.text("key", &s.Key)
	f.text("value", &s.Value)
}

func (p *Observe) members(f *form) {
	f.text("summary", &p.Summary)
	f.textOrNone("content", &p.Content)
	f.textOrNone("content_ref", &p.ContentRef)
	f.textOrNone("source", &p.Source)
	f.textOrNone("supersedes", (*string)(&p.Supersedes))
}

func (p *Claim) members(f *form) {
	f.text("schema_type", &p.SchemaType)
	f.text("key", &p.Key)
	f.text("content", &p.Content)
	f.textOrNone("supersedes", (*string)(&p.Supersedes))
	list(f, "support_refs", &p.SupportRefs, func(f *form, s *Support) { f.object(s) })
	orNone(f, "valid_from", &p.ValidFrom, (*form).moment)
	orNone(f, "valid_to", &p.ValidTo, (*form).moment)
}

func (s *Support) members(f *form) {
	f.text("event", (*string)(&s.Event))
	f.text("excerpt", &s.Excerpt)
	f.time("noted_at", &s.NotedAt)
}

func (p *Lesson) members(f *form) {
	f.text("category", &p.Category)
	f.text("text", &p.Text)
	f.text("transition", (*string)(&p.Transition))
	orNone(f, "rank", &p.Rank, (*form).integer)
}

func (p *Pref) members(f *form) {
	f.text("category", &p.Category)
	f.text("key", &p.Key)
	f.text("value", &p.Value)
	f.textOrNone("previous_value", &p.PreviousValue)
}

func (p *SkillEdit) members(f *form) {
	f.text("skill_name", &p.SkillName)
	f.text("file", &p.File)
	f.text("edit_kind", &p.EditKind)
	f.text("content_hash", &p.ContentHash)
	f.textOrNone("reason", &p.Reason)
}

func (p *Verify) members(f *form) {
	f.text("target", (*string)(&p.Target))
	f.text("attestation", &p.Attestation)
	f.text("verdict", (*string)(&p.Verdict))
}

func (p *Archive) members(f *form) {
	f.text("target", (*string)(&p.Target))
	f.text("direction", &p.Direction)
	f.textOrNone("reason", &p.Reason)
}

func (p *Redact) members(f *form) {
	f.text("target", (*string)(&p.Target))
	f.text("reason", &p.Reason)
	f.textOrNone("triggered_by_pattern", &p.TriggeredByPattern)
	list(f, "redacted_spans", &p.RedactedSpans, func(f *form, s *Span) { f.object(s) })
}

func (s *Span) members(f *form) {
	f.text("field", &s.Field)
	f.text("replacement", &s.Replacement)
}

func (p *Import) members(f *form) {
	f.text("source_kind", &p.SourceKind)
	f.text("source_ref", &p.SourceRef)
	f.number("item_count", &p.ItemCount)
	f.text("manifest_hash", &p.ManifestHash)
}

func (p *Audit) members(f *form) {
	f.text("kind", &p.What)
	f.text("detail", &p.Detail)
	f.textOrNone("target", &p.Target)
}
