package gitstore

func (s *Store) sweepQuarantines() error { return nil }
