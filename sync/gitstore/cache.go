package gitstore

import (
	"container/list"
	"sync"
)

const (
	// cacheBytes bounds the inflated objects that a Store remembers: the delta bases of a walk, and the trees that the
	// next append will change.
	cacheBytes = 16 << 20
	// cacheItemBytes keeps one big object from pushing out everything else.
	cacheItemBytes = 1 << 20
	// cacheItemCost is about what an entry takes besides its data.
	cacheItemCost = 200
)

// An objectCache remembers inflated objects by where they are stored, the least recently used one going first.
type objectCache struct {
	mu    sync.Mutex
	max   int
	size  int
	items map[storedCopy]*list.Element
	order list.List // of *cacheItem, most recent first
}

type cacheItem struct {
	at  storedCopy
	obj Object // Hash is zero until it has been verified
}

func (c *objectCache) init(max int) {
	c.max, c.items = max, map[storedCopy]*list.Element{}
	c.order.Init()
}

func (c *objectCache) get(at storedCopy) (Object, bool) {
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
func (c *objectCache) put(at storedCopy, o Object) {
	if len(o.Data) > cacheItemBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[at]; ok {
		e.Value.(*cacheItem).obj = o
		c.order.MoveToFront(e)
		return
	}
	c.items[at] = c.order.PushFront(&cacheItem{at, o})
	c.size += len(o.Data) + cacheItemCost
	for c.size > c.max {
		c.evict(c.order.Back())
	}
}

// clear forgets everything.
func (c *objectCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.Len() > 0 {
		c.evict(c.order.Back())
	}
}

func (c *objectCache) evict(e *list.Element) {
	item := c.order.Remove(e).(*cacheItem)
	delete(c.items, item.at)
	c.size -= len(item.obj.Data) + cacheItemCost
}
