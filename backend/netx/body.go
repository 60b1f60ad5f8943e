package netx

import (
	"context"
	"errors"
	"io"
	"net/url"
	"sync"

	"sentient/backend/errs"
)

// body is a response's body with its cap, with errors for people, and with what must happen when it is done with.
type body struct {
	io.ReadCloser
	ctx     context.Context
	url     *url.URL
	left    int64
	limited bool
	once    sync.Once
	done    []func()
	err     error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.limited && int64(len(p)) > b.left {
		p = p[:b.left+1] // one more than allowed tells a body that just fits from one that is too large
	}
	n, err := b.ReadCloser.Read(p)
	if b.limited && int64(n) > b.left {
		n, err = int(b.left), tooLarge(b.url)
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(b.ctx, b.url, err)
	}
	if err != nil {
		b.err = err
		b.finish()
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.finish()
	return err
}

func (b *body) finish() {
	b.once.Do(func() {
		for _, f := range b.done {
			f()
		}
	})
}

func tooLarge(u *url.URL) error {
	return errs.Newf(errs.TooLarge, "body_too_large", "The answer of %s is larger than Sentient reads.", hostOf(u))
}

// hosts counts the exchanges with each host.
type hosts struct {
	mu sync.Mutex
	m  map[string]*slots
}

type slots struct {
	users int // in it or waiting
	free  chan struct{}
}

// enter waits for one of a host's places and gives the function that leaves it. A host's number of places is that of
// the policy that came first while any are taken.
func (h *hosts) enter(ctx context.Context, host string, places int) (leave func(), err error) {
	if places < 0 {
		return func() {}, nil
	}
	h.mu.Lock()
	s, ok := h.m[host]
	if !ok {
		s = &slots{free: make(chan struct{}, places)}
		h.m[host] = s
	}
	s.users++
	h.mu.Unlock()
	gone := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(h.m, host)
		}
	}
	select {
	case s.free <- struct{}{}:
		return func() { <-s.free; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
