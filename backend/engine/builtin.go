package engine

import (
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
		HTTP: net.HTTP(builtinPolicy), Fetcher: net, Clock: e.o.Clock, Log: e.o.Log,
		ContextLength: func() int { return settings().Models.ContextLength },
		MemoryBytes:   func() uint64 { total, _ := sysinfo.Memory(); return uint64(total) },
		Cores:         sysinfo.CPUs(),
		Silence:       time.Duration(settings().Models.RequestTimeoutS) * time.Second,
	})
}
