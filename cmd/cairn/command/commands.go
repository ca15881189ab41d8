package command

import (
	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/internal/event"
)

// commands lists every command in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.noteCommand(), a.askCommand(), a.logCommand(), a.showCommand(),
		a.claimCommand(), a.lessonCommand(), a.prefCommand(), a.skillCommand(), a.verifyCommand(),
		a.archiveCommand(event.DirectionArchive, "Put an event away"),
		a.archiveCommand(event.DirectionRestore, "Bring an archived event back"),
		a.redactCommand(),
		a.joinCommand(), a.syncCommand(),
		a.oneWay("push", "Only send", api.PushOnly), a.oneWay("pull", "Only fetch", api.PullOnly),
		a.remoteCommand(), a.refusedCommand(), a.hubCommand(),
		a.connectCommand(), a.disconnectCommand(), a.mcpCommand(), a.serveCommand(), a.hookCommand(), a.digestCommand(), a.agentCommand(),
		a.initCommand(), a.statusCommand(), a.doctorCommand(), a.embedCommand(), a.auditCommand(), a.policyCommand(),
		a.importCommand(), a.exportCommand(), a.demoCommand(), a.benchCommand(), a.versionCommand(),
	}
}
