package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cairn/agent/api"
)

func (a *app) embedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "embed", Short: "Give notes without one their vector, for search by meaning", GroupID: groupCare, Args: args(0, 0),
		Long: `With "embedder": "words:PATH" in config.json, where PATH is a file of word vectors (GloVe, word2vec or
fastText, as text, also gzipped), notes that hold words of a question are ranked by what they mean
as well. New notes get their vector when they are saved; this gives one to those that were there
before. It works on this machine alone and can be stopped at any time.

With "embedder": "onnx:PATH", where PATH is the folder of a model of sentences (model.onnx, with
tokenizer.json or vocab.txt), the model says what notes and questions mean. It takes a program that
was built with "go build -tags onnx". All notes get their vector in the background, which takes
a model some hundredths or tenths of a second each; this does it at once, and shows how far it is.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			var out api.Embedded
			err = a.showing(cmd.Context(), agent, func() (err error) {
				out, err = agent.Embed(cmd.Context())
				return err
			})
			if err != nil {
				return err
			}
			return a.print(out, func(w io.Writer) { writeEmbedded(w, out) })
		},
	}
}

func writeEmbedded(w io.Writer, e api.Embedded) {
	fmt.Fprintf(w, "%d vectors made; %d of %d notes have one", e.Made, e.Notes-e.Unknown, e.Notes)
	if e.Unknown > 0 {
		fmt.Fprintf(w, ", of the others no word is known")
	}
	fmt.Fprintln(w)
}
