package embed

// Count is how many words are known.
func (w *Words) Count() int { return len(w.place) }

// Dims is how many numbers a vector has.
func (w *Words) Dims() int { return w.dims }
