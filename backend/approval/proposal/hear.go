package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sentient/backend/approval/rules"
	"sentient/backend/clock"
	"sentient/backend/event"
	"sentient/backend/store"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// How long a check may take.
const (
	replyWaits  = 20 * time.Second // §2; then the reply goes on and what is weighed asks first
	checkWithin = 45 * time.Second
)

// maxSaid is the longest said, in characters.
const maxSaid = 300

// check is one question to a model that is under way.
type check struct {
	session string
	keys    map[string]bool // what it weighs
	cancel  context.CancelFunc
	halted  bool
}

// Hear reads a message of a chat, or what was said into its reply, before the model does. Where it may hold a standing
// instruction about tools that there are, a model is asked which; Hear returns when that is over, after 20 seconds, or when
// ctx ends, whichever is first, and the check goes on by itself. It gives no error: without an answer there is no card.
func (s *Service) Hear(ctx context.Context, session, messageID, text string) {
	sentences := Detect(text)
	if len(sentences) == 0 {
		return
	}
	apps := s.Apps()
	candidates := Candidates(strings.Join(sentences, "\n"), apps)
	if len(candidates) == 0 {
		return
	}
	list := instructions(sentences, apps)
	c := &check{session: session, keys: weighed(list, candidates, apps), cancel: func() {}}
	s.mu.Lock()
	s.runs[c] = struct{}{}
	s.mu.Unlock()
	done := make(chan struct{})
	started := s.Tree.Go("rule check", func(tree context.Context) {
		defer close(done)
		defer s.over(c)
		within, cancel := context.WithCancel(tree)
		defer cancel()
		if !s.begin(c, cancel) {
			return
		}
		h := heard{session, messageID, sentences, list, candidates, apps}
		if err := s.check(within, h); err != nil && within.Err() == nil {
			s.Log.Warn("rule check failed", "session", session, "error", err)
		}
	})
	if !started {
		s.over(c)
		return
	}
	timer := s.Clock.NewTimer(replyWaits)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C():
	case <-ctx.Done():
	}
}

// begin gives a check its cancel; false when it was cancelled before.
func (s *Service) begin(c *check, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.cancel = cancel
	return !c.halted
}

func (s *Service) over(c *check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, c)
}

// heard is what a check is about.
type heard struct {
	session, messageID string
	sentences          []string
	list               []instruction
	candidates         []Key
	apps               []*tool.Plugin
}

// check asks the model and makes the cards that follow: one for each level.
func (s *Service) check(ctx context.Context, h heard) error {
	prompt, err := s.question(h)
	if err != nil {
		return err
	}
	said, err := svc.Guarded(ctx, svc.Guard{Tree: s.Tree, Clock: s.Clock, Log: s.Log}, "rule check's model", checkWithin,
		func(ctx context.Context) (string, error) { return s.Ask(ctx, h.session, prompt) })
	if err != nil {
		return fmt.Errorf("ask which rule: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err // an answer to a check that was ended makes no card
	}
	keys, level := answerOf(said, h.candidates)
	chosen := choose(h.list, keys, h.apps, level)
	s.proposing.Lock()
	defer s.proposing.Unlock()
	for _, l := range []rules.Level{rules.Never, rules.HandOff, rules.Ask, rules.IfAsked} {
		if err := s.propose(ctx, h, l, slices.DeleteFunc(slices.Clone(chosen), func(p picked) bool { return p.level != l })); err != nil {
			return err
		}
	}
	return nil
}

// question fills the prompt. The person's words stand in it as one JSON string, tools' words as single short lines.
func (s *Service) question(h heard) (string, error) {
	type line struct{ Key, Label, About string }
	said, _ := json.Marshal(strings.Join(h.sentences, "\n")) // a string always encodes
	data := struct {
		Said       string
		Candidates []line
	}{Said: string(said)}
	for _, k := range h.candidates {
		l := line{Key: k.Key, Label: k.Label}
		if p := pluginOf(h.apps, k.App); p != nil {
			l.About = oneLine(p.Description, 120)
			for _, t := range p.Tools {
				if t.Name == k.Key && k.Tool != "" {
					l.About = oneLine(t.Description, 120)
				}
			}
		}
		l.Label = oneLine(l.Label, 120)
		data.Candidates = append(data.Candidates, l)
	}
	var b strings.Builder
	if err := s.prompt.Execute(&b, data); err != nil {
		return "", fmt.Errorf("fill prompt: %w", err)
	}
	return b.String(), nil
}

func oneLine(text string, n int) string {
	if len(text) > n*8 {
		text = text[:n*8]
	}
	return cut(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "), n)
}

// Bounds of an answer.
const (
	mostAnswer = 64 << 10 // bytes
	mostTries  = 32       // places where an object could begin
)

// answerOf reads a model's answer, whatever stands around its object: the keys that are among the candidates, and never or
// ask. Without an object there are no keys.
func answerOf(said string, candidates []Key) ([]Key, rules.Level) {
	if len(said) > mostAnswer {
		said = said[:mostAnswer]
	}
	for range mostTries {
		i := strings.IndexByte(said, '{')
		if i < 0 {
			break
		}
		said = said[i:]
		var answer struct {
			Keys json.RawMessage `json:"keys"`
			Rule any             `json:"rule"`
		}
		if err := json.NewDecoder(strings.NewReader(said)).Decode(&answer); err != nil || answer.Keys == nil {
			said = said[1:]
			continue
		}
		var names []any
		var one string
		if json.Unmarshal(answer.Keys, &names) != nil {
			if json.Unmarshal(answer.Keys, &one) != nil {
				said = said[1:]
				continue
			}
			names = []any{one}
		}
		level := rules.Ask
		if r, ok := answer.Rule.(string); ok && strings.EqualFold(strings.TrimSpace(r), string(rules.Never)) {
			level = rules.Never
		}
		return among(names, candidates), level
	}
	return nil, rules.None
}

func among(names []any, candidates []Key) []Key {
	var keys []Key
	for _, n := range names {
		name, ok := n.(string)
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(candidates, func(k Key) bool { return strings.EqualFold(k.Key, name) })
		if i >= 0 && !slices.Contains(keys, candidates[i]) {
			keys = append(keys, candidates[i])
		}
	}
	return keys
}

// propose writes a card of one level and tells it. What is covered already is left out; with nothing left there is none.
func (s *Service) propose(ctx context.Context, h heard, level rules.Level, chosen []picked) error {
	chosen, err := s.uncovered(h, level, chosen)
	if err != nil || len(chosen) == 0 {
		return err
	}
	p := Proposal{ID: uuid.Must(uuid.NewV7()).String(), SessionID: h.session, MessageID: h.messageID, Rule: level, Status: Pending, CreatedAt: clock.Stamp(s.Clock.Now())}
	var said []string
	for _, c := range chosen {
		p.Keys = append(p.Keys, c.Key.Key)
		p.Targets = append(p.Targets, Target{Key: c.Key.Key, App: c.AppName, Tool: c.Tool, Label: c.Label})
		if !slices.Contains(said, c.sentence) {
			said = append(said, c.sentence)
		}
	}
	p.Said = cut(strings.Join(strings.Fields(strings.ToValidUTF8(strings.Join(said, " "), "")), " "), maxSaid)
	keys, err1 := json.Marshal(p.Keys)
	targets, err2 := json.Marshal(p.Targets)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("encode proposal: %w", errors.Join(err1, err2))
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO rule_proposals (`+columns+`) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?2)`,
			p.ID, p.SessionID, p.MessageID, p.Said, p.Rule, string(keys), string(targets), p.Status, p.CreatedAt)
		if err != nil {
			return fmt.Errorf("write proposal: %w", err)
		}
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM rule_proposals WHERE id = ?`, p.ID).Scan(&n); err != nil {
			return fmt.Errorf("find proposal: %w", err)
		}
		if n == 0 {
			return errGone
		}
		return nil
	})
	if err != nil {
		if errors.Is(err, errGone) {
			return nil
		}
		return err
	}
	s.mu.Lock()
	if list, ok := s.chats[h.session]; ok {
		list[p.ID] = pending{p.Rule, keySet(p.Keys)}
	}
	s.mu.Unlock()
	event.Publish(s.Bus, TopicUpdated, p)
	return nil
}

// uncovered leaves out the keys that a rule, or an undecided proposal of the chat, covers at least as strictly.
func (s *Service) uncovered(h heard, level rules.Level, chosen []picked) ([]picked, error) {
	now := s.Rules()
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.loadLocked(h.session)
	if err != nil {
		return nil, err
	}
	proposed := func(t *tool.Tool, p *tool.Plugin) bool {
		for _, one := range list {
			if !level.Stricter(one.rule) && (t == nil && one.keys[p.ID] || t != nil && holds(one.keys, t, p)) {
				return true
			}
		}
		return false
	}
	return slices.DeleteFunc(chosen, func(c picked) bool {
		p := pluginOf(h.apps, c.App)
		if p == nil {
			return true
		}
		if c.Tool == "" && level.Stricter(rules.Level(now[p.ID])) {
			return proposed(nil, p)
		}
		for _, t := range p.Tools {
			if (c.Tool == "" || t.Name == c.Key.Key) && level.Stricter(rules.For(now, t, p).Level) && !proposed(t, p) {
				return false
			}
		}
		return true
	}), nil
}
