package hook

// Open to tests.
var (
	ReadCommands = readCommands
	ReadPlaces   = readPlaces
	SplitPaths   = splitPaths
)
