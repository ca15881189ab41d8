package memory

// HistoricTimes is where an import puts its items.
var HistoricTimes = historicTimes
