package main

import (
	"os"

	"cairn/cmd/cairn/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], command.System()))
}
