package event

// A form goes through an event in the order of its file. It either writes the
// canonical bytes or reads them, and reading fails at the first byte that
// writing would not have put there. The members are described once for both
// (members.go), so what is read and what is written cannot differ.
type form struct {
	reading bool
	buf     []byte // what has been written, or what is still to be read
	err     error  // the first failure; nothing after it counts
	depth   int    // of objects and lists
	begun   bool   // the innermost of them has something in it
}

// A described value lists its members, in the order of the file.
type described interface{ members(*form) }

// take writes the parts, or reads them. It is false, and has read nothing, if
// something else is there.
func (f *form) take(parts ...string) bool {
	if !f.reading {
		for _, p := range parts {
			f.buf = append(f.buf, p...)
		}
		return true
	}
	rest := f.buf
	for _, p := range parts {
		if len(rest) < len(p) || string(rest[:len(p)]) != p {
			return false
		}
		rest = rest[len(p):]
	}
	f.buf = rest
	return true
}

// must notes what should hold where it does not.
func (f *form) must(ok bool) {
	if !ok {
		f.fail(ErrNotCanonical)
	}
}

func (f *form) fail(err error) {
	if f.err == nil {
		f.err = err
	}
	if f.reading {
		f.buf = nil // nothing more is found there, and every loop ends
	}
}

// lines holds what stands before a member: a comma unless it is the first, a
// line break, and one space for each level.
const lines = ",\n    "

// breakLine is that for the next member.
func (f *form) breakLine() string {
	if f.begun {
		return lines[:2+f.depth]
	}
	return lines[1 : 2+f.depth]
}

// member begins a member; false if another one is there, or none.
func (f *form) member(name string) bool {
	ok := f.take(f.breakLine(), `"`, name, `": `)
	f.begun = f.begun || ok
	return ok
}

// event goes through a whole file.
func (f *form) event(e *Event) {
	f.object(e)
	f.must(f.take("\n"))
}

// object goes through a value in braces.
func (f *form) object(o described) {
	f.must(f.take("{"))
	f.depth++
	f.begun = false
	o.members(f)
	f.depth--
	f.begun = true
	f.must(f.take(lines[1:2+f.depth], "}"))
}

// payload goes through the payload, whose type is the kind's.
func (f *form) payload(name string, e *Event) {
	f.must(f.member(name))
	if f.reading {
		e.Payload = NewPayload(e.Kind)
		f.must(e.Payload != nil)
	}
	if e.Payload == nil {
		f.take("null")
		return
	}
	f.object(e.Payload)
}

// nested goes through a member that is an object.
func (f *form) nested(name string, o described) {
	f.must(f.member(name))
	f.object(o)
}

// text goes through a member that is a string.
func (f *form) text(name string, v *string) {
	f.must(f.member(name))
	f.quoted(v)
}

// textOrNone is text for a member that is left out when it is empty.
func (f *form) textOrNone(name string, v *string) {
	if !f.reading && *v == "" || !f.member(name) {
		return
	}
	f.quoted(v)
	f.must(*v != "")
}

// number goes through a member that is a whole number.
func (f *form) number(name string, v *int) {
	f.must(f.member(name))
	f.integer(v)
}

// time goes through a member that is a moment.
func (f *form) time(name string, t *Time) {
	f.must(f.member(name))
	f.moment(t)
}

// orNone goes through a member that is left out when there is no value.
func orNone[T any](f *form, name string, p **T, value func(*form, *T)) {
	if !f.reading && *p == nil || !f.member(name) {
		return
	}
	if f.reading {
		*p = new(T)
	}
	value(f, *p)
}

// list goes through a member that is a list. An empty list and none at all are
// two things, and each is read as it was written.
func list[T any](f *form, name string, v *[]T, item func(*form, *T)) {
	f.must(f.member(name))
	switch {
	case (f.reading || *v == nil) && f.take("null"):
	case (f.reading || len(*v) == 0) && f.take("[]"):
		*v = []T{}
	default:
		f.must(f.take("["))
		f.depth++
		f.begun = false
		for i := 0; f.next(i, len(*v)); i++ {
			if f.reading {
				*v = append(*v, *new(T))
			}
			item(f, &(*v)[i])
		}
		f.depth--
		f.must(f.begun)
		f.must(f.take(lines[1:2+f.depth], "]"))
	}
	f.begun = true
}

// next begins the i-th item of a list, of which there are n if it is written.
func (f *form) next(i, n int) bool {
	if !f.reading && i == n {
		return false
	}
	ok := f.take(f.breakLine())
	f.begun = f.begun || ok
	return ok
}
