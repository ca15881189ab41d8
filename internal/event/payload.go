package event

// A Payload is what an event of one kind says. The implementations are the
// ten types below, as pointers.
type Payload interface {
	// Kind is the kind of event that carries this payload.
	Kind() Kind
	// Subject is what the event is about, as stored beside the payload.
	Subject() Subject
	// Title and Body are what a person reads first and then; search looks at
	// these two and at the tags, and at nothing else.
	Title() string
	Body() string

	described
	check(*checker)
}

// Observe is a note: something seen, said or decided.
type Observe struct {
	Summary    string `json:"summary"`
	Content    string `json:"content,omitempty"` // the text as given, byte for byte
	ContentRef string `json:"content_ref,omitempty"`
	Source     string `json:"source,omitempty"`
	Supersedes ID     `json:"supersedes,omitempty"`
}

// Claim is a statement that holds under a key until another takes its place.
type Claim struct {
	SchemaType  string    `json:"schema_type"`
	Key         string    `json:"key"`
	Content     string    `json:"content"`
	Supersedes  ID        `json:"supersedes,omitempty"`
	SupportRefs []Support `json:"support_refs"`
	ValidFrom   *Time     `json:"valid_from,omitempty"`
	ValidTo     *Time     `json:"valid_to,omitempty"`
}

// Support points from a claim to an event that backs it.
type Support struct {
	Event   ID     `json:"event"`
	Excerpt string `json:"excerpt"`
	NotedAt Time   `json:"noted_at"`
}

// Lesson is something learned, or a change to it.
type Lesson struct {
	Category   string     `json:"category"`
	Text       string     `json:"text"`
	Transition Transition `json:"transition"`
	Rank       *int       `json:"rank,omitempty"`
}

// A Transition is what a lesson event does.
type Transition string

// The transitions. Modify and Retire name the lesson they act on as the
// event's parent.
const (
	LessonAdd     Transition = "add"
	LessonModify  Transition = "modify"
	LessonRetire  Transition = "retire"
	LessonPromote Transition = "promote"
	LessonDecay   Transition = "decay"
)

// Pref sets a preference.
type Pref struct {
	Category      string `json:"category"`
	Key           string `json:"key"`
	Value         string `json:"value"`
	PreviousValue string `json:"previous_value,omitempty"`
}

// SkillEdit records that a file of a skill changed. The file itself stays
// where it is; ContentHash is "sha256:" and the hash in hex.
type SkillEdit struct {
	SkillName   string `json:"skill_name"`
	File        string `json:"file"`
	EditKind    string `json:"edit_kind"` // create, modify or delete
	ContentHash string `json:"content_hash"`
	Reason      string `json:"reason,omitempty"`
}

// Verify is a judgement on another event.
type Verify struct {
	Target      ID      `json:"target"`
	Attestation string  `json:"attestation"`
	Verdict     Verdict `json:"verdict"`
}

// A Verdict is the outcome of a verification.
type Verdict string

// The verdicts.
const (
	Confirmed Verdict = "confirmed"
	Refuted   Verdict = "refuted"
	Uncertain Verdict = "uncertain"
)

// Archive puts another event away or brings it back.
type Archive struct {
	Target    ID     `json:"target"`
	Direction string `json:"direction"` // archive or restore
	Reason    string `json:"reason,omitempty"`
}

// The directions of an Archive.
const (
	DirectionArchive = "archive"
	DirectionRestore = "restore"
)

// Redact hides another event everywhere, for good.
type Redact struct {
	Target             ID     `json:"target"`
	Reason             string `json:"reason"`
	TriggeredByPattern string `json:"triggered_by_pattern,omitempty"`
	RedactedSpans      []Span `json:"redacted_spans"`
}

// Span names a field of a redacted event and what stands in its place.
type Span struct {
	Field       string `json:"field"`
	Replacement string `json:"replacement"`
}

// Import records that a batch of events came from outside.
type Import struct {
	SourceKind   string `json:"source_kind"`
	SourceRef    string `json:"source_ref"`
	ItemCount    int    `json:"item_count"`
	ManifestHash string `json:"manifest_hash"`
}

// Audit records something the agent or the hub did.
type Audit struct {
	What   string `json:"kind"`
	Detail string `json:"detail"`
	Target string `json:"target,omitempty"`
}

// NewPayload is an empty payload of kind k, nil for an unknown kind.
func NewPayload(k Kind) Payload {
	switch k {
	case KindObserve:
		return &Observe{}
	case KindClaim:
		return &Claim{}
	case KindLesson:
		return &Lesson{}
	case KindPref:
		return &Pref{}
	case KindSkillEdit:
		return &SkillEdit{}
	case KindVerify:
		return &Verify{}
	case KindArchive:
		return &Archive{}
	case KindRedact:
		return &Redact{}
	case KindImport:
		return &Import{}
	case KindAudit:
		return &Audit{}
	default:
		return nil
	}
}

func (*Observe) Kind() Kind   { return KindObserve }
func (*Claim) Kind() Kind     { return KindClaim }
func (*Lesson) Kind() Kind    { return KindLesson }
func (*Pref) Kind() Kind      { return KindPref }
func (*SkillEdit) Kind() Kind { return KindSkillEdit }
func (*Verify) Kind() Kind    { return KindVerify }
func (*Archive) Kind() Kind   { return KindArchive }
func (*Redact) Kind() Kind    { return KindRedact }
func (*Import) Kind() Kind    { return KindImport }
func (*Audit) Kind() Kind     { return KindAudit }

func (p *Observe) Subject() Subject   { return Subject{Kind: "note"} }
func (p *Claim) Subject() Subject     { return Subject{Kind: "claim", ID: p.Key} }
func (p *Lesson) Subject() Subject    { return Subject{Kind: "lesson", ID: p.Category} }
func (p *Pref) Subject() Subject      { return Subject{Kind: "preference", ID: p.Category + "/" + p.Key} }
func (p *SkillEdit) Subject() Subject { return Subject{Kind: "skill", ID: p.SkillName} }
func (p *Verify) Subject() Subject    { return Subject{Kind: "event", ID: string(p.Target)} }
func (p *Archive) Subject() Subject   { return Subject{Kind: "event", ID: string(p.Target)} }
func (p *Redact) Subject() Subject    { return Subject{Kind: "event", ID: string(p.Target)} }
func (p *Import) Subject() Subject    { return Subject{Kind: "import", ID: p.SourceKind} }
func (p *Audit) Subject() Subject     { return Subject{Kind: "audit", ID: p.What} }

func (p *Observe) Title() string   { return p.Summary }
func (p *Claim) Title() string     { return p.Key }
func (p *Lesson) Title() string    { return p.Category }
func (p *Pref) Title() string      { return p.Category + "/" + p.Key }
func (p *SkillEdit) Title() string { return p.SkillName + " " + p.File }
func (p *Verify) Title() string    { return "verify " + p.Target.Short() }
func (p *Archive) Title() string   { return p.Direction + " " + p.Target.Short() }
func (p *Redact) Title() string    { return "redact " + p.Target.Short() }
func (p *Import) Title() string    { return "import from " + p.SourceKind }
func (p *Audit) Title() string     { return p.What }

func (p *Observe) Body() string {
	if p.Content == "" {
		return p.Summary
	}
	return p.Content
}
func (p *Claim) Body() string     { return p.Content }
func (p *Lesson) Body() string    { return p.Text }
func (p *Pref) Body() string      { return p.Value }
func (p *SkillEdit) Body() string { return p.Reason }
func (p *Verify) Body() string    { return string(p.Verdict) + "\n" + p.Attestation }
func (p *Archive) Body() string   { return p.Reason }
func (p *Redact) Body() string    { return p.Reason }
func (p *Import) Body() string    { return p.SourceRef }
func (p *Audit) Body() string     { return p.Detail }

// Searchable says whether an event of this kind is something to be found, or
// only acts on others.
func (k Kind) Searchable() bool {
	switch k {
	case KindObserve, KindClaim, KindLesson, KindPref, KindSkillEdit:
		return true
	default:
		return false
	}
}
