package engine

import (
	"context"
	"os"
	"time"

	"sentient/backend/model/builtin"
	"sentient/backend/netx"
	"sentient/backend/sysinfo"
)

// How models are reached. An answer may take minutes and silence is watched by the adapters, so nothing
// but the size of an answer is bounded here.
var (
	modelPolicy   = netx.Policy{Addresses: netx.Any, Timeout: -1, HeaderTimeout: -1, MaxBody: 64 << 20, PerHost: -1}
	builtinPolicy = netx.Policy{Addresses: netx.Loopback, Timeout: -1, HeaderTimeout: -1, MaxBody: 64 << 20, PerHost: -1}
)

func (e *Engine) builtinModel(net *netx.Client) *builtin.Service {
	executable, _ := os.Executable() // "" is searched nowhere
	working, _ := os.Getwd()
	settings := e.config.Get
	return builtin.New(builtin.Options{
		Home: e.o.Home, Checkout: builtin.FindCheckout(executable, working),
		HTTP: net.HTTP(builtinPolicy), Fetcher: fetcher{net}, Clock: e.o.Clock, Log: e.o.Log,
		ContextLength: func() int { return settings().Models.ContextLength },
		MemoryBytes:   func() uint64 { total, _ := sysinfo.Memory(); return uint64(total) },
		Cores:         sysinfo.CPUs(),
		Silence:       time.Duration(settings().Models.RequestTimeoutS) * time.Second,
	})
}

// fetcher downloads for the built-in model.
type fetcher struct{ net *netx.Client }

// Fetch downloads one file; see builtin.Fetcher.
func (f fetcher) Fetch(ctx context.Context, want builtin.Fetch, progress func(done int64)) error {
	return f.net.Download(ctx, netx.Request{URL: want.URL, To: want.Path, SHA256: want.SHA256, Size: want.Size, Resume: true,
		Addresses: netx.Public, Progress: func(done, _ int64) { progress(done) }})
}
