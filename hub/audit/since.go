package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"cairn/internal/disk"
)

// A Place is one in the log: so many bytes into the file of a month. The zero
// Place is its beginning.
type Place struct {
	Month  string `json:"month,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

func (p Place) String() string { return p.Month + ":" + strconv.FormatInt(p.Offset, 10) }

// An Entry is a record and the place after it.
type Entry struct {
	Record
	End Place
}

// maxChunk is how much of one month Since reads at once. A record is far
// shorter.
const maxChunk = 1 << 20

// Since reads records that follow a place, oldest first, and the place after
// them: some of them, and none only if no whole line follows. Lines that cannot
// be read are left out.
func (l *Log) Since(from Place) ([]Entry, Place, error) {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return nil, from, fmt.Errorf("read the audit log: %w", err)
	}
	for _, e := range entries {
		month, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || month < from.Month {
			continue
		}
		if month > from.Month {
			from = Place{Month: month}
		}
		found, end, err := l.chunk(from)
		if err != nil {
			return nil, from, fmt.Errorf("read the audit log: %w", err)
		}
		if from = end; len(found) > 0 {
			return found, from, nil
		}
	}
	return nil, from, nil
}

// chunk is the records of one month that follow a place. It goes on until there
// is one, or no whole line.
func (l *Log) chunk(from Place) ([]Entry, Place, error) {
	for {
		data, err := l.bytes(from)
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		if err != nil || len(whole) == 0 && len(data) < maxChunk {
			return nil, from, err
		}
		if len(whole) == 0 {
			whole = data // no line of ours is that long
		}
		var found []Entry
		for line := range bytes.Lines(whole) {
			from.Offset += int64(len(line))
			var r Record
			if json.Unmarshal(line, &r) == nil {
				found = append(found, Entry{r, from})
			}
		}
		if len(found) > 0 {
			return found, from, nil
		}
	}
}

func (l *Log) bytes(from Place) (data []byte, err error) {
	file, err := disk.Open(l.fs, filepath.Join(l.dir, from.Month+".jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.NewSectionReader(file, from.Offset, maxChunk))
}
