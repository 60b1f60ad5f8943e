package approval

import (
	"context"
	"encoding/json"
	"strings"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/outside"
	"sentient/backend/approval/rules"
	"sentient/backend/tool"
)

// Hidden reports whether a tool is offered nowhere: a rule says never, or its app is read only and it could not read (§2,
// §5).
func (s *Service) Hidden(t *tool.Tool, p *tool.Plugin) bool {
	set := s.Settings()
	if rules.For(set.Rules, t, p).Level == rules.Never {
		return true
	}
	if t.Risk == tool.Read || t.RiskOf != nil {
		return false
	}
	for _, id := range set.ReadOnly {
		if id == p.ID {
			return true
		}
	}
	return false
}

// Shown gives a result as the model reads it: marked, where someone else wrote it (§10 "Marking").
func (s *Service) Shown(text, source string) string {
	if source == "" || !s.Settings().MarkOutside {
		return text
	}
	return s.marker.Mark(text, source)
}

// Settle takes in what a call gave, as the model reads it and whole, before the model does: it marks the run and its chat.
// source is where outside content came from, "" for none; the result is kept and shown to the model with it. It is called
// for the calls of a round in their order.
func (c *Case) Settle(ctx context.Context, shown string, whole json.RawMessage) (source string, err error) {
	if !c.outcome.Ran {
		return "", nil
	}
	r := c.of
	if c.outcome.Err == nil { // an error is a sentence of our own
		source = r.s.source(ctx, c.Tool, c.Plugin, c.Args, whole)
	}
	result := evidence.Result{Tool: c.Tool.Name, App: c.Plugin.ID, Source: c.Plugin.Name, Args: c.Args, Text: shown, Outside: source != "", Private: !c.Plugin.Public}
	if source != "" {
		result.Source = source
	}
	host := ""
	if address := c.loaded(ctx); address != "" {
		host = outside.Host(address)
	}
	r.take(result, host)
	if host != "" && r.call.SessionID != "" {
		if err := r.s.Chats.Visit(ctx, r.call.SessionID, []string{host}); err != nil {
			return source, err
		}
	}
	if source != "" && r.call.SessionID != "" {
		if err := r.s.Chats.SetMark(ctx, r.call.SessionID, source); err != nil {
			return source, err
		}
	}
	return source, c.markFiles(ctx, whole)
}

// markFiles keeps where the files came from that a marked run wrote: reading one later is reading that again.
func (c *Case) markFiles(ctx context.Context, whole json.RawMessage) error {
	mark := c.of.Untrusted()
	if mark == "" || c.Tool.Files == nil || c.outcome.Err != nil {
		return nil
	}
	for _, name := range c.Tool.Files(c.Args, whole) {
		if err := c.of.s.Chats.WroteFile(ctx, name, mark); err != nil {
			return err
		}
	}
	return nil
}

// source gives where the outside content of a result came from: by its tool, by its own word, or by the file it was read
// from. "" when nobody else wrote any of it.
func (s *Service) source(ctx context.Context, t *tool.Tool, p *tool.Plugin, args, result json.RawMessage) string {
	if source := outside.Source(t, p, args, result); source != "" {
		return source
	}
	if t.Sources == nil {
		return ""
	}
	for _, shown := range t.Sources(args, result) {
		if shown.Kind != "file" || shown.File == "" {
			continue
		}
		source, err := s.Chats.FileSource(ctx, shown.File)
		if err != nil {
			s.Log.Warn("source of a file not read", "error", err)
			return "a file"
		}
		if source != "" {
			return source
		}
	}
	return ""
}

// take adds a result to what the run knows.
func (r *Run) take(result evidence.Result, host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result.Outside && r.mark == "" {
		r.mark = result.Source
	}
	if host != "" {
		r.visited[host] = true
	}
	if r.evidence == nil {
		r.fresh = append(r.fresh, result)
		return
	}
	r.evidence.Results = append(r.evidence.Results, result)
	r.values.Add(result)
}

// load counts an address that the run loads.
func (r *Run) load(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known.loaded = append(r.known.loaded, address)
	if r.evidence != nil {
		r.evidence.Loaded = append(r.evidence.Loaded, address)
	}
}

// carries is the value check of an address. What cannot be read is taken to carry.
func (r *Run) carries(ctx context.Context, address string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.readLocked(ctx)
	if err != nil {
		return "", true
	}
	return r.values.Check(e, address)
}

func (r *Run) carriesText(ctx context.Context, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.readLocked(ctx)
	if err != nil {
		return true
	}
	_, found := r.values.CheckText(e, text)
	return found
}

// neverRan reports whether a stored result says that there was no such tool.
func neverRan(text string) bool { return strings.HasPrefix(text, `{"error":"There is no tool called`) }
