package packfmt

import "errors"

// ErrMalformed means that bytes are not what the format asks for. It is wrapped with what is wrong.
var ErrMalformed = errors.New("malformed")
