package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"sentient/backend/llm"
)

// Bounds of an automatic title.
const (
	titleLength = 60               // characters
	titleWithin = 60 * time.Second // a local model may have to load first
	titleReads  = 2000             // bytes of the question, and of the answer, that the model is shown
)

// nameChat names a chat after its first reply, in the background: with the first words of its message at once, and
// with a model's title when that is on and comes. Incognito chats keep no name.
func (s *Service) nameChat(t *turn) {
	if t.incognito {
		return
	}
	s.Tree.Go("title", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, titleWithin)
		defer cancel()
		s.mu.Lock()
		s.titles[t] = cancel
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.titles, t)
			s.mu.Unlock()
		}()
		if err := s.title(ctx, t); err != nil && ctx.Err() == nil {
			s.Log.Warn("chat not named", "session", t.SessionID, "error", err)
		}
	})
}

func (s *Service) title(ctx context.Context, t *turn) error {
	wanted, err := s.Chats.WantsTitle(ctx, t.SessionID)
	if err != nil || !wanted {
		return err
	}
	words := firstWords(t.Text)
	if words == "" && len(t.Attachments) > 0 {
		words = firstWords(t.Attachments[0])
	}
	if words != "" {
		if err := s.Chats.SetAutoTitle(ctx, t.SessionID, words, false); err != nil {
			return err
		}
	}
	if !s.Settings().AutoTitle {
		return nil
	}
	title, err := s.askTitle(ctx, t)
	if err != nil || title == "" {
		return err
	}
	return s.Chats.SetAutoTitle(ctx, t.SessionID, title, true)
}

func (s *Service) askTitle(ctx context.Context, t *turn) (string, error) {
	choice, err := s.Models.Choose(ctx, "fast", "")
	if err != nil {
		return "", fmt.Errorf("choose title model: %w", err)
	}
	if choice.Weak {
		return "", nil // its title would be worse than the message's own words
	}
	prompt, err := fill(s.prompts.title, struct{ Question, Answer string }{cut(t.Text, titleReads), cut(t.reply.Text(), titleReads)})
	if err != nil {
		return "", err
	}
	req := choice.Request([]llm.Message{{Role: llm.User, Text: prompt}})
	req.MaxTokens = 200 // room for a model that thinks first though it is asked not to
	req.Effort = llm.EffortNone
	var said strings.Builder
	reply, err := choice.Model.Stream(ctx, req, func(d llm.Delta) error {
		said.WriteString(d.Text)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("ask for title: %w", err)
	}
	return cleanTitle(cmp.Or(reply.Text, said.String())), nil
}

// cleanTitle makes a title of what a model wrote: its first line with letters, without a label, quotes, Markdown or a full
// stop, cut at a word.
func cleanTitle(text string) string {
	for line := range strings.Lines(text) {
		line = oneLine(line)
		if label, rest, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.Trim(label, "*# "), "title") {
			line = rest
		}
		line = strings.Trim(line, " \"'`*#_“”„‘’«»「」")
		line = strings.TrimRight(line, " .。")
		line = strings.Trim(line, " \"'`*#_“”„‘’«»「」")
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return shorten(line)
		}
	}
	return ""
}

// firstWords makes a title of a message.
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		if line = oneLine(line); line != "" {
			return shorten(line)
		}
	}
	return ""
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || (r >= '\u2028' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069') {
			return ' '
		}
		return r
	}, text)), " ")
}

// shorten cuts a line to a title's length, at a word where one ends in its second half.
func shorten(line string) string {
	r := []rune(line)
	if len(r) <= titleLength {
		return line
	}
	line = string(r[:titleLength-1])
	if i := strings.LastIndex(line, " "); i > len(line)/2 {
		line = line[:i]
	}
	return strings.TrimRight(line, " ,;:-") + "…"
}
