package event

// A Kind says what an event is.
type Kind string

// The ten kinds.
const (
	KindObserve   Kind = "observe"
	KindClaim     Kind = "claim"
	KindLesson    Kind = "lesson"
	KindPref      Kind = "pref"
	KindSkillEdit Kind = "skill_edit"
	KindVerify    Kind = "verify"
	KindArchive   Kind = "archive"
	KindRedact    Kind = "redact"
	KindImport    Kind = "import"
	KindAudit     Kind = "audit"
)

// Kinds lists every kind in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		KindObserve, KindClaim, KindLesson, KindPref, KindSkillEdit,
		KindVerify, KindArchive, KindRedact, KindImport, KindAudit,
	}
}

// A Layer says which part of memory an event belongs to.
type Layer string

// The layers.
const (
	LayerWorking  Layer = "working"
	LayerEpisodic Layer = "episodic"
	LayerSemantic Layer = "semantic"
	LayerPersonal Layer = "personal"
	LayerSkill    Layer = "skill"
	LayerProtocol Layer = "protocol"
)

// Layer is where an event of this kind belongs unless its writer says otherwise.
func (k Kind) Layer() Layer {
	switch k {
	case KindObserve:
		return LayerEpisodic
	case KindClaim, KindLesson:
		return LayerSemantic
	case KindPref:
		return LayerPersonal
	case KindSkillEdit:
		return LayerSkill
	default:
		return LayerProtocol
	}
}

// A Classification says which spaces an event may be in.
type Classification string

// The classes: Public may be in any space, Private only in the space
// "personal", Secret only in "local", which never leaves the machine.
const (
	Public  Classification = "public"
	Private Classification = "private"
	Secret  Classification = "secret"
)

// An ActorKind says what wrote an event.
type ActorKind string

// The kinds of actor.
const (
	ActorAgent  ActorKind = "agent"
	ActorHuman  ActorKind = "human"
	ActorSystem ActorKind = "system"
)
