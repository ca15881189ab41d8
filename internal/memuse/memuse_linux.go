package memuse

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func of(pid int) (Use, error) {
	b, err := os.ReadFile(procFile(pid, "status"))
	if err != nil {
		return Use{}, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	var u Use
	for name, value := range map[string]*int64{"VmRSS": &u.Resident, "RssAnon": &u.Private, "VmHWM": &u.Peak} {
		if *value, err = kilobytes(string(b), name); err != nil {
			return Use{}, fmt.Errorf("read the memory of process %d: %w", pid, err)
		}
	}
	return u, nil
}

// kilobytes finds a line such as "VmRSS:	    1234 kB".
func kilobytes(status, name string) (int64, error) {
	_, after, found := strings.Cut("\n"+status, "\n"+name+":")
	line, _, _ := strings.Cut(after, "\n")
	number, isKB := strings.CutSuffix(strings.TrimSpace(line), " kB")
	n, err := strconv.ParseInt(number, 10, 64)
	if !found || !isKB || err != nil {
		return 0, fmt.Errorf("the system says no %s of it", name)
	}
	return n << 10, nil
}

// forgetPeak is documented as value 5 in proc_pid_clear_refs(5).
func forgetPeak(pid int) error {
	if err := os.WriteFile(procFile(pid, "clear_refs"), []byte("5"), 0); err != nil {
		return fmt.Errorf("forget the peak memory of process %d: %w", pid, err)
	}
	return nil
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func ended(p *os.ProcessState) (int64, error) {
	use, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, ErrUnknown
	}
	return int64(use.Maxrss) << 10, nil // in kilobytes here
}
