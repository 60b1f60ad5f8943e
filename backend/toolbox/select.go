package toolbox

import (
	"cmp"
	"slices"

	"sentient/backend/tool"
)

// Need is what tools are chosen by.
type Need struct {
	Text    string   // what the person asked, newest last
	Recent  []string // tools that the chat used lately, newest last
	Named   []string // exactly these, scoped ones too; nil: what fits
	All     bool     // everything, whatever was asked (chat.tool_selection)
	Max     int      // how many at most (chat.max_tools_local, chat.max_tools_cloud); 0: no limit
	Exclude func(p *tool.Plugin, t *tool.Tool) bool
}

// Select chooses the tools that a run is offered, in the order of the registry. The same need gives the same tools; where
// everything fits, every need does.
//
// Named gives those and no others. Else, when not all fit: the core first, then what the chat used lately (with half of
// the room at most, so that a change of subject finds its tools), then the plugins whose words the text has, then the
// rest in order.
func (r *Registry) Select(n Need) []*tool.Tool {
	s := r.now.Load()
	offer := r.candidates(s, n)
	if n.Named != nil || n.All || n.Max <= 0 || len(offer) <= n.Max {
		return toolsOf(offer)
	}
	c := &choice{offer: offer, taken: make([]bool, len(offer)), room: n.Max}
	c.take(func(e entry) bool { return e.plugin.Core }, c.room)
	c.takeRecent(n.Recent)
	c.takeMatching(s.words.match(n.Text), n.Recent)
	c.take(func(entry) bool { return true }, c.room)
	return c.chosen()
}

// candidates are the tools that may be offered, in order.
func (r *Registry) candidates(s *shelf, n Need) []entry {
	var list []entry
	off := r.o.Disabled()
	for _, p := range s.plugins {
		if p.Scoped && n.Named == nil || !r.reachable(p) {
			continue
		}
		for _, t := range p.Tools {
			if n.Named != nil && !slices.Contains(n.Named, t.Name) || slices.Contains(off, t.Name) || n.Exclude != nil && n.Exclude(p, t) {
				continue
			}
			list = append(list, entry{t, p})
		}
	}
	return list
}

func toolsOf(entries []entry) []*tool.Tool {
	list := make([]*tool.Tool, len(entries))
	for i, e := range entries {
		list[i] = e.tool
	}
	return list
}

// choice is a choice that is being made.
type choice struct {
	offer []entry
	taken []bool
	room  int
}

// take takes those that fit a condition, in order, at most n.
func (c *choice) take(fits func(entry) bool, n int) {
	for i, e := range c.offer {
		if n > 0 && !c.taken[i] && fits(e) && c.pick(i) {
			n--
		}
	}
}

func (c *choice) pick(i int) bool {
	if c.room <= 0 || c.taken[i] {
		return false
	}
	c.taken[i] = true
	c.room--
	return true
}

func (c *choice) takeRecent(names []string) {
	most := (c.room + 1) / 2
	for _, name := range slices.Backward(names) {
		i := slices.IndexFunc(c.offer, func(e entry) bool { return e.tool.Name == name })
		if i >= 0 && most > 0 && c.pick(i) {
			most--
		}
	}
}

// breadth is how many tools each plugin that matches well gets before any gets all of its tools.
const breadth = 2

// matching is a plugin whose words a text has.
type matching struct {
	score int
	tools []int // places in the offer, best first
}

// takeMatching takes tools of the plugins that a text has words of: first the best few of each that matches about as
// well as the best one, then each whole while there is room.
func (c *choice) takeMatching(m match, recent []string) {
	byPlugin := map[*tool.Plugin]*matching{}
	var order []*matching
	for i, e := range c.offer {
		score := m.plugin(e.plugin)
		if score == 0 {
			continue
		}
		if byPlugin[e.plugin] == nil {
			byPlugin[e.plugin] = &matching{score: score}
			order = append(order, byPlugin[e.plugin])
		}
		p := byPlugin[e.plugin]
		p.tools = append(p.tools, i)
		if slices.Contains(recent, e.tool.Name) {
			p.score = score + score/2 // what was used lately is more likely to be meant
		}
	}
	slices.SortStableFunc(order, func(a, b *matching) int { return cmp.Compare(b.score, a.score) })
	for _, p := range order {
		slices.SortStableFunc(p.tools, func(a, b int) int { return cmp.Compare(m.tool(c.offer[b].tool), m.tool(c.offer[a].tool)) })
	}
	for _, p := range order {
		if p.score*2 >= order[0].score {
			for _, i := range p.tools[:min(breadth, len(p.tools))] {
				c.pick(i)
			}
		}
	}
	for _, p := range order {
		for _, i := range p.tools {
			c.pick(i)
		}
	}
}

func (c *choice) chosen() []*tool.Tool {
	var list []*tool.Tool
	for i, e := range c.offer {
		if c.taken[i] {
			list = append(list, e.tool)
		}
	}
	return list
}
