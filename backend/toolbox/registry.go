// Package toolbox holds the tools that there are: which exist, which may be used now, and which of them a model is offered.
//
// It owns the registry (New, Add, Remove, Find, Enabled), the list for Settings (List) and the choice of tools for a turn
// (Select). It promises that no two tools share a name, that every tool in it passed its plugin's check, and that the order
// of what it gives never depends on anything but the order in which plugins were added, so that a provider's cache of the
// prompt stays warm. It runs nothing and decides about no call: a tool that Find gives may be switched off, which is for
// the caller to refuse.
//
// A plugin is a folder below this one; toolbox/all names them, toolbox/conform holds what each of them must keep to.
// Layer 2. The loop knows it by an interface of its own.
package toolbox

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"sentient/backend/tool"
)

// Options are what a registry needs from outside.
type Options struct {
	Plugins []*tool.Plugin
	// Disabled gives the names of the tools that are switched off (tools.disabled); nil: none.
	Disabled func() []string
	// HideDisconnected says whether tools of apps that are not connected are withheld (integrations.hide_disconnected_tools);
	// nil: they are.
	HideDisconnected func() bool
}

// Registry is the set of tools. It is safe for use from many goroutines, also while plugins come and go.
type Registry struct {
	o   Options
	mu  sync.Mutex // one change at a time
	now atomic.Pointer[shelf]
}

// shelf is the registry at one moment; it never changes.
type shelf struct {
	plugins []*tool.Plugin
	tools   map[string]entry
	words   index
}

type entry struct {
	tool   *tool.Tool
	plugin *tool.Plugin
}

// New makes a registry. The error names every plugin and tool that cannot be used; it is for programmers.
func New(o Options) (*Registry, error) {
	if o.Disabled == nil {
		o.Disabled = func() []string { return nil }
	}
	if o.HideDisconnected == nil {
		o.HideDisconnected = func() bool { return true }
	}
	s, err := arrange(o.Plugins)
	if err != nil {
		return nil, err
	}
	r := &Registry{o: o}
	r.now.Store(s)
	return r, nil
}

// arrange checks plugins and makes what is looked up of them.
func arrange(plugins []*tool.Plugin) (*shelf, error) {
	s := &shelf{plugins: slices.Clone(plugins), tools: map[string]entry{}}
	var wrong []error
	ids := map[string]bool{}
	for _, p := range s.plugins {
		if p == nil {
			return nil, errors.New("add plugin: there is none")
		}
		wrong = append(wrong, p.Check())
		if ids[p.ID] {
			wrong = append(wrong, fmt.Errorf("two plugins are called %s", p.ID))
		}
		ids[p.ID] = true
		for _, t := range p.Tools {
			if other, taken := s.tools[t.Name]; taken {
				wrong = append(wrong, fmt.Errorf("two tools are called %s, of %s and %s", t.Name, other.plugin.ID, p.ID))
			}
			s.tools[t.Name] = entry{t, p}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, fmt.Errorf("add plugins: %w", err)
	}
	s.words = indexOf(s.plugins)
	return s, nil
}

// Add adds a plugin behind all others, such as a tool server that was connected. It is refused like in New, and then
// nothing changes.
func (r *Registry) Add(p *tool.Plugin) error {
	return r.change(func(plugins []*tool.Plugin) []*tool.Plugin { return append(plugins, p) })
}

// Remove takes the plugin of this id away; without one nothing happens. Calls that run go on.
func (r *Registry) Remove(id string) {
	// What is left of a set that was right is right.
	_ = r.change(func(plugins []*tool.Plugin) []*tool.Plugin {
		return slices.DeleteFunc(plugins, func(p *tool.Plugin) bool { return p.ID == id })
	})
}

func (r *Registry) change(how func([]*tool.Plugin) []*tool.Plugin) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := arrange(how(slices.Clone(r.now.Load().plugins)))
	if err == nil {
		r.now.Store(s)
	}
	return err
}

// Find gives a tool and its plugin by the tool's name, also one that is switched off, not connected or scoped.
func (r *Registry) Find(name string) (t *tool.Tool, p *tool.Plugin, ok bool) {
	e, ok := r.now.Load().tools[name]
	return e.tool, e.plugin, ok
}

// Plugins gives all plugins, in the order in which they were added.
func (r *Registry) Plugins() []*tool.Plugin { return slices.Clone(r.now.Load().plugins) }

// Enabled reports whether a tool may be used at all: it is there, not switched off, and its app is connected.
func (r *Registry) Enabled(name string) bool {
	_, p, ok := r.Find(name)
	return ok && !slices.Contains(r.o.Disabled(), name) && r.reachable(p)
}

// reachable reports whether a plugin's app is connected, or its tools are to be offered even so.
func (r *Registry) reachable(p *tool.Plugin) bool {
	return p.Connected == nil || p.Connected() || !r.o.HideDisconnected()
}
