package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/metrics"
)

func (a *app) hubCommand() *cobra.Command {
	c := group("hub", "Run and administer a team's hub", groupSync, a.hubInitCommand(), a.hubServeCommand(), a.hubPolicyCommand(), a.hubHookCommand())
	for _, v := range []struct{ name, short string }{
		{"invite", "Invite a machine; the invite is the last line"},
		{"devices", "List people, devices and open invites"},
		{"revoke", "Shut out a device or a person, at once"},
		{"grant", "Give or take a right"},
		{"spaces", "List or make shared spaces"},
		{"status", "Show the hub in a few numbers"},
		{"purge", "Take events out of a space for good, with their bytes"},
		{"audit", "List what the hub decided"},
	} {
		c.AddCommand(a.hubVerb(v.name, v.short))
	}
	return c
}

func (a *app) hubInitCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use: "init --data DIR", Short: "Make a hub", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if data == "" {
				return usage("say where with --data DIR")
			}
			info, err := hub.Init(cmd.Context(), data)
			if err != nil {
				return err
			}
			return a.print(info, func(w io.Writer) { fmt.Fprint(w, info) })
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the hub's folder")
	return cmd
}

func (a *app) hubServeCommand() *cobra.Command {
	var data, listen, counters string
	cmd := &cobra.Command{
		Use: "serve --data DIR --listen ADDR:PORT [--metrics 127.0.0.1:PORT]", Short: "Serve a hub until it is told to stop", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if data == "" {
				return usage("say where with --data DIR")
			}
			beModest(cmd.Context())
			var h *hub.Hub
			h, err = hub.Open(data, hub.Options{Log: a.logger(), Ready: func(addr net.Addr) {
				fmt.Fprintf(a.env.Stderr, "listening on %s, host key %s\n", addr, h.Fingerprint())
			}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.Close()) }()
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return usage("cannot listen: " + err.Error())
			}
			return a.serveBoth(cmd.Context(), h, l, counters)
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the hub's folder")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:2222", "address and port")
	cmd.Flags().StringVar(&counters, "metrics", "", "loopback address and port that answer with counters for Prometheus")
	return cmd
}

// serveBoth serves the hub, and its counters if an address is given for them.
func (a *app) serveBoth(ctx context.Context, h *hub.Hub, l net.Listener, counters string) error {
	if counters == "" {
		return h.Serve(ctx, l)
	}
	at, err := metrics.Listen(counters)
	if err != nil {
		return errors.Join(usage(err.Error()), l.Close())
	}
	fmt.Fprintf(a.env.Stderr, "metrics on http://%s/metrics\n", at.Addr())
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.ServeMetrics(ctx, at) }()
	err = h.Serve(ctx, l)
	stop()
	return errors.Join(err, <-ended)
}

// hubVerb is one of the verbs that the hub itself understands: here with
// --data DIR, or at the joined hub over SSH without it.
func (a *app) hubVerb(name, short string) *cobra.Command {
	form, flags := admin.Usage(name)
	c := &cobra.Command{
		Use: form, Short: short, DisableFlagParsing: true, // the hub understands them
		Long: short + ".\nOn the hub's machine give --data DIR; without it the verb goes to the hub that this machine has joined.",
		RunE: func(cmd *cobra.Command, given []string) error {
			v := a.splitVerb(cmd.Name(), given)
			switch {
			case v.help:
				return cmd.Help()
			case v.err != nil:
				return v.err
			case v.data == "":
				return a.remoteVerb(cmd.Context(), v.words)
			}
			return a.localVerb(cmd.Context(), v)
		},
	}
	c.Flags().AddGoFlagSet(flags)
	c.Flags().String("data", "", "the hub's folder, on the hub's own machine")
	return c
}

// verb is a line for the hub without what is meant for this program.
type verb struct {
	words []string
	data  string
	help  bool
	err   error
}

// splitVerb takes the global flags and --data out of a verb's words; all else
// is for the hub to understand.
func (a *app) splitVerb(name string, given []string) verb {
	v := verb{words: []string{name}}
	for i := 0; i < len(given); i++ {
		flag, value, inline := strings.Cut(given[i], "=")
		switch flag {
		case "--json":
			a.json = true
			continue
		case "--no-color":
			continue
		case "-h", "--help":
			v.help = true
			continue
		case "--data", "--home", "--log-level":
		default:
			v.words = append(v.words, given[i])
			continue
		}
		if !inline {
			i++
			if i == len(given) {
				v.err = usage(flag + " needs a value")
				return v
			}
			value = given[i]
		}
		switch flag {
		case "--data":
			v.data = value
		case "--home":
			a.homeFlag = value
		}
	}
	return v
}

func (a *app) localVerb(ctx context.Context, v verb) (err error) {
	h, err := hub.Open(v.data, hub.Options{Log: a.logger()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	result, err := h.Admin().Run(ctx, admin.Caller{}, v.words)
	if err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) { fmt.Fprint(w, result) })
}

// remoteVerb sends a verb to the joined hub as this machine's device.
func (a *app) remoteVerb(ctx context.Context, words []string) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.json {
		words = append(words, "--json")
	}
	answer, err := agent.HubAdmin(ctx, home, words)
	if err != nil {
		return err
	}
	if a.env.Screen {
		answer = []byte(harmless(string(answer)))
	}
	_, err = a.env.Stdout.Write(answer)
	return err
}
