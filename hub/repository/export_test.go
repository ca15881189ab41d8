package repository

// Tell lets tests make changes without pushes.
func (f *Feed) Tell(r *Repository) { f.tell(r, ForMain, [20]byte{}) }
