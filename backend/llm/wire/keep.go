package wire

import "sync"

// Keep remembers the newest values by key, at most Cap of them. Services sign their thoughts and want them back with the next
// round's tool results; the transcript has no place for such blobs, and a lost one only costs the thought.
type Keep[V any] struct {
	Cap int // 0 is 256

	mu     sync.Mutex
	values map[string]V
	order  []string
}

// Put remembers a value; a known key is replaced and keeps its age.
func (k *Keep[V]) Put(key string, v V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[string]V{}
	}
	if _, ok := k.values[key]; !ok {
		k.order = append(k.order, key)
	}
	k.values[key] = v
	limit := k.Cap
	if limit == 0 {
		limit = 256
	}
	for len(k.order) > limit {
		delete(k.values, k.order[0])
		k.order = k.order[1:]
	}
}

// Get gives the value of a key, and whether it is still known.
func (k *Keep[V]) Get(key string) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.values[key]
	return v, ok
}
