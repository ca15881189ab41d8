package disk

import "fmt"

// zeroBlock is how much Preallocate writes at once.
const zeroBlock = 256 << 10

// Preallocate fills the file from its beginning with size zero bytes and makes them durable. They are really written: a
// file system then has nothing left to note down when they are overwritten, so a later Datasync waits for the data alone.
// A disk that is full shows now and not then.
func Preallocate(f File, size int64) error {
	zeros := make([]byte, min(size, zeroBlock))
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at); err != nil {
			return fmt.Errorf("make room of %d bytes: %w", size, err)
		}
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("make room of %d bytes: %w", size, err)
	}
	return nil
}
