package localapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

// encode writes a request. A *problem.Problem means that it cannot be sent.
func encode(v any) ([]byte, error) {
	if d, ok := v.(api.Draft); ok {
		if field := badText(reflect.ValueOf(d), ""); field != "" {
			err := &event.NotUTF8Error{Field: field}
			return nil, &problem.Problem{Code: problem.NotUTF8, Message: err.Error(), Field: field, Err: err}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, &problem.Problem{Code: problem.Usage, Message: "the request holds a value that JSON cannot carry: nothing was done", Err: err}
	}
	if len(b) > maxBody {
		return nil, problem.New(problem.TooBig, fmt.Sprintf("the request has %d bytes, the limit is %d: nothing was done", len(b), maxBody))
	}
	return b, nil
}

// badText is the path of the first string in v that is not UTF-8. The JSON
// package would replace its bad bytes without a word, and what was saved would
// not be what was given.
func badText(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return path
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return badText(v.Elem(), path)
		}
	case reflect.Slice:
		return badItem(v, path)
	case reflect.Struct:
		return badField(v, path)
	}
	return ""
}

func badItem(v reflect.Value, path string) string {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return ""
	}
	for i := range v.Len() {
		if bad := badText(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); bad != "" {
			return bad
		}
	}
	return ""
}

func badField(v reflect.Value, path string) string {
	for field, value := range v.Fields() {
		if !field.IsExported() {
			continue
		}
		if bad := badText(value, dotted(path, jsonName(field))); bad != "" {
			return bad
		}
	}
	return ""
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// jsonName is the name of a field in an event.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return strings.ToLower(f.Name)
	}
	return name
}
