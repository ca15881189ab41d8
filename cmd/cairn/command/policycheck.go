package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/policy/rules"
)

// policyChecked is what "policy check" answers.
type policyChecked struct {
	OK       bool            `json:"ok"`
	Findings []rules.Finding `json:"findings"`
	Warnings []rules.Finding `json:"warnings"` // what does nothing any more
}

func (a *app) policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Say everything that is wrong with a policy file", Args: args(1, 1),
		Long: `Say everything that is wrong with a policy file, each with its line and column.
Nothing is changed, and no hub is asked. The exit code is 1 if anything is wrong.`,
		RunE: func(_ *cobra.Command, given []string) error {
			src, err := readPolicyFile(given[0])
			if err != nil {
				return err
			}
			summary, checked, err := checkPolicy(src, time.Now())
			if err != nil {
				return err
			}
			err = a.print(checked, func(w io.Writer) { writeChecked(w, given[0], summary, checked) })
			if err == nil && !checked.OK {
				return &silentError{1}
			}
			return err
		},
	}
}

func checkPolicy(src []byte, now time.Time) (rules.Summary, policyChecked, error) {
	summary, over, err := rules.CheckNew(src, now)
	checked := policyChecked{OK: err == nil, Findings: []rules.Finding{}, Warnings: append([]rules.Finding{}, over...)}
	if wrong, ok := errors.AsType[*rules.CheckError](err); ok {
		checked.Findings = wrong.Findings
		return summary, checked, nil
	}
	return summary, checked, err
}

func writeChecked(w io.Writer, name string, s rules.Summary, c policyChecked) {
	name = oneLine(name)
	for _, f := range c.Findings {
		fmt.Fprintln(w, harmless(f.In(name)))
	}
	for _, f := range c.Warnings {
		fmt.Fprintln(w, harmless(f.In(name))+" (not a mistake)")
	}
	if c.OK {
		fmt.Fprintf(w, "%s is valid: team %s, admins %s, approvals %d\n", name, s.Team, strings.Join(s.Admins, ", "), s.Approvals)
	}
}
