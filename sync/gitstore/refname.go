package gitstore

import (
	"fmt"
	"strings"
)

// maxRefName keeps a ref's lock file within what every file system can name.
const maxRefName = 200

// checkRefName holds name against the rules of git-check-ref-format(1), for full names.
func checkRefName(name string) error {
	rest, ok := strings.CutPrefix(name, "refs/")
	if !ok {
		return fmt.Errorf("%w: %q does not begin with refs/", ErrRefName, name)
	}
	if strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return fmt.Errorf("%w: %q", ErrRefName, name)
	}
	for _, part := range strings.Split(rest, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.ContainsFunc(part, badRefRune) {
			return fmt.Errorf("%w: %q", ErrRefName, name)
		}
	}
	return nil
}

func badRefRune(r rune) bool {
	return r <= ' ' || r == 0x7f || r == '\uFFFD' || strings.ContainsRune(`~^:?*[\`, r)
}

// checkNewRefName is checkRefName for a ref that we write. Stock git makes "git push HEAD:HEAD" a branch named HEAD, which
// leaves HEAD ambiguous for every later command.
func checkNewRefName(name string) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	if len(name) > maxRefName {
		return fmt.Errorf("%w: longer than %d bytes", ErrRefName, maxRefName)
	}
	if strings.HasSuffix(name, "/HEAD") {
		return fmt.Errorf("%w: %q would make HEAD ambiguous", ErrRefName, name)
	}
	return nil
}
