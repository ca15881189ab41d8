package atomicfile

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"cairn/internal/disk"
)

// WriteJSON is Write of v as JSON with a newline behind it: on one line if indent is empty, and otherwise, for files that
// people look into, indented by it. Nothing is written if v cannot be encoded.
func WriteJSON(fsys disk.FS, path string, v any, indent string, perm fs.FileMode) error {
	data, err := encode(v, indent)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return Write(fsys, path, append(data, '\n'), perm)
}

func encode(v any, indent string) ([]byte, error) {
	if indent == "" {
		return json.Marshal(v)
	}
	return json.MarshalIndent(v, "", indent)
}
