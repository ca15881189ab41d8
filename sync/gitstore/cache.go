package gitstore

import (
	"container/list"
	"sync"
)

const (
	// storeCacheBytes bounds the cache that a Store has of its own.
	storeCacheBytes = 16 << 20
	// quarantineCacheBytes bounds that of a quarantine: room for some versions of a large directory.
	quarantineCacheBytes = 4 << 20
	// cacheItemBytes keeps one big object from pushing out everything else.
	cacheItemBytes = 1 << 20
	// cacheItemCost is about what an entry takes besides its data.
	cacheItemCost = 200
)

// A Cache remembers inflated objects by where they are stored, the least recently used one going first: the delta bases of
// a walk, and the trees that the next append will change. Several Stores may share one, and its bound. It is safe for
// concurrent use.
type Cache struct {
	max int

	mu    sync.Mutex // guards what follows
	size  int
	items map[storedCopy]*list.Element
	order list.List // of *cacheItem, most recent first
}

type cacheItem struct {
	at  storedCopy
	obj Object // Hash is zero until it has been verified
}

// NewCache makes a cache of about that many bytes at most.
func NewCache(bytes int) *Cache { return &Cache{max: bytes, items: map[storedCopy]*list.Element{}} }

// ShareCache has the Store remember objects in c instead of in a cache of its own. Call it before anything is read.
func (s *Store) ShareCache(c *Cache) { s.cache = c }

// Bytes is about what the cache takes now.
func (c *Cache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

func (c *Cache) get(at storedCopy) (Object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[at]
	if !ok {
		return Object{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheItem).obj, true
}

// put remembers o, whose Hash is zero if its contents have not been hashed.
func (c *Cache) put(at storedCopy, o Object) {
	if cap(o.Data) > cacheItemBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[at]; ok {
		item := e.Value.(*cacheItem)
		c.size += cap(o.Data) - cap(item.obj.Data)
		item.obj = o
		c.order.MoveToFront(e)
	} else {
		c.items[at] = c.order.PushFront(&cacheItem{at, o})
		c.size += cap(o.Data) + cacheItemCost
	}
	for c.size > c.max {
		c.evict(c.order.Back())
	}
}

// forget gives up what is remembered of packs that nobody will look into any more, and so the packs themselves.
func (c *Cache) forget(gone func(*pack) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next *list.Element
	for e := c.order.Front(); e != nil; e = next {
		next = e.Next()
		if gone(e.Value.(*cacheItem).at.pack) {
			c.evict(e)
		}
	}
}

func (c *Cache) evict(e *list.Element) {
	item := c.order.Remove(e).(*cacheItem)
	delete(c.items, item.at)
	c.size -= cap(item.obj.Data) + cacheItemCost
}

func (s *Store) forget(gone func(*pack) bool) { s.cache.forget(gone) }

// forgetAll gives up all that is remembered of the Store's packs.
func (s *Store) forgetAll() { s.forget(func(p *pack) bool { return p.files == &s.files }) }
