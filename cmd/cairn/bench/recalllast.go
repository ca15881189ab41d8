package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/paths"
)

// recallLast is what is kept of a run: which questions were answered, by the
// hash of each. A file that cannot be read counts as none.
type recallLast struct {
	At    time.Time       `json:"at"`
	Right map[string]bool `json:"right"`
}

// Remember compares r with the last run over the same file of questions, says
// so in r, and keeps r in the home instead. The file itself is never written.
func (r *RecallReport) Remember(home paths.Home, file string, now time.Time) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("remember the result: %w", err)
	}
	path := home.Recall(hashOf(file))
	last, err := readLast(path)
	if err != nil {
		return err
	}
	if last != nil {
		r.compare(last)
	}
	next := recallLast{At: now.UTC().Truncate(time.Second), Right: map[string]bool{}}
	for _, q := range r.asked {
		next.Right[q.key()] = !q.lost
	}
	err = disk.MakeDir(disk.OS, filepath.Dir(path), 0o700)
	if err == nil {
		err = atomicfile.WriteJSON(disk.OS, path, next, "", 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember the result: %w", err)
	}
	return nil
}

func readLast(path string) (*recallLast, error) {
	data, err := disk.ReadFile(disk.OS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last result: %w", err)
	}
	var last recallLast
	if json.Unmarshal(data, &last) != nil {
		return nil, nil
	}
	return &last, nil
}

func (r *RecallReport) compare(last *recallLast) {
	r.Last = &last.At
	for _, q := range r.asked {
		right, asked := last.Right[q.key()]
		if asked && !right && !q.lost {
			r.Regained++
		}
	}
	for i := range r.Lost {
		if last.Right[r.Lost[i].key()] {
			r.Lost[i].Since = true
			r.LostSince++
		}
	}
}

// key tells a question from the others of its file. What must be found belongs
// to it: a question that asks for something else is another one.
func (q LostQuestion) key() string {
	return hashOf(fmt.Sprintf("%d %q %q", q.set, q.Question, q.Find))
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
