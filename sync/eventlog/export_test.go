package eventlog

// WithSegments sets how long a file of the write-ahead log is.
func WithSegments(size int64) Option { return func(l *Log) { l.journal.size = size } }

// SegmentRecords is after how many records appends go to the other file.
const SegmentRecords = segmentRecords
