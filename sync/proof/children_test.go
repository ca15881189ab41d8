package proof_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"cairn/internal/longtest"
)

// The test binary is its own child: with the first variable it takes that part in a proof, in the folder that the second
// one names.
const (
	roleVar  = "CAIRN_PROOF_ROLE"
	dirVar   = "CAIRN_PROOF_DIR"
	faultVar = "CAIRN_PROOF_FAULT"
)

// roles are the parts that a child can take. It says on stdout what it acknowledges, a line each.
var roles = map[string]func(dir, fault string) error{
	"writer": beWriter,
	"settler": func(dir, _ string) error {
		return beSettler(dir, os.Stdin)
	},
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		// What the command line says comes after this and wins.
		if err := flag.Set("rapid.checks", strconv.Itoa(longtest.Rounds(6, 200))); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := roles[role](os.Getenv(dirVar), os.Getenv(faultVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A child is a process that takes part in a proof.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // what it says; closed at its end
	stderr *strings.Builder
}

func startChild(role, dir, fault string) (*child, error) {
	c := &child{cmd: exec.Command(os.Args[0]), lines: make(chan string, 1<<16), stderr: new(strings.Builder)}
	c.cmd.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+dir, faultVar+"="+fault)
	c.cmd.Stderr = c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(out)
	return c, nil
}

// read passes whole lines on: one that was torn acknowledges nothing.
func (c *child) read(out io.Reader) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			close(c.lines)
			return
		}
		c.lines <- strings.TrimSuffix(line, "\n")
	}
}

// kill ends the process at once, wherever it is, as kill -9 does.
func (c *child) kill() error { return c.cmd.Process.Kill() }

// rest waits for the end and returns what was said and not read yet.
func (c *child) rest() (said []string) {
	for line := range c.lines {
		said = append(said, line)
	}
	// Nobody minds how it ended: what counts is what it said, on stdout and stderr.
	_ = c.cmd.Wait()
	return said
}
