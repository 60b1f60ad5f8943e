package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// A long chat is summarized for its model: what is older than the newest messages becomes a few paragraphs, which stand
// in the prompt instead. The messages themselves stay as they are. It happens beside the chat, after a reply, so that
// nobody waits for it; until then the model reads all of it.

// Bounds of a summary.
const (
	summaryReads  = 48_000 // bytes of the chat that the model is shown
	summaryLine   = 2_000  // of one message
	summaryLength = 6_000
	summaryBehind = 500 // messages over the limit that are still read: a summary may have failed for long
	summaryWithin = 5 * time.Minute
)

// compress summarizes a chat's older part where it has grown long.
func (s *Service) compress(t *turn) {
	set := s.Settings()
	if set.CompressAfter <= 0 {
		return
	}
	s.mu.Lock()
	_, busy := s.summing[t.SessionID]
	s.summing[t.SessionID] = t
	s.mu.Unlock()
	if busy {
		return // whoever is at it looks again
	}
	s.Tree.Go("summary", func(ctx context.Context) {
		for next := s.toSummarize(t.SessionID); next != nil; next = s.toSummarize(t.SessionID) {
			ctx, cancel := context.WithTimeout(ctx, summaryWithin)
			if err := s.summarize(ctx, next, set); err != nil && ctx.Err() == nil {
				s.Log.Warn("chat not summarized", "session", t.SessionID, "error", err)
			}
			cancel()
		}
	})
}

// toSummarize gives the newest turn of a chat since the last look; nil ends the work.
func (s *Service) toSummarize(session string) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.summing[session]
	if t == nil {
		delete(s.summing, session)
		return nil
	}
	s.summing[session] = nil
	return t
}

func (s *Service) summarize(ctx context.Context, t *turn, set Settings) error {
	keep := set.HistoryWindow
	if keep <= 0 {
		keep = 30
	}
	past, before, err := s.Transcript.History(ctx, t.TurnID, set.CompressAfter+summaryBehind)
	if err != nil {
		return err
	}
	end, upto := oldPart(past, set.CompressAfter, keep)
	if end == 0 {
		return nil
	}
	conversation := conversationOf(past[:end])
	if s.Knowledge != nil && !t.incognito {
		if err := s.Knowledge.Flush(ctx, t.SessionID, conversation); err != nil {
			return fmt.Errorf("keep what is worth remembering: %w", err)
		}
	}
	text, err := s.askSummary(ctx, before, conversation)
	if err != nil {
		return err
	}
	return s.Transcript.Summarize(ctx, upto, text)
}

// oldPart gives how many of the messages are summarized, whole turns, and the last turn of them. 0: the chat is not long.
func oldPart(past []transcript.Past, after, keep int) (end int, upto string) {
	said := 0
	for _, p := range past {
		if p.Role != "tool" {
			said++
		}
	}
	if said <= after {
		return 0, ""
	}
	drop := said - keep
	for i, p := range past {
		if i > 0 && p.TurnID != past[i-1].TurnID && drop <= 0 {
			break
		}
		if p.Role != "tool" {
			drop--
		}
		end, upto = i+1, p.TurnID
	}
	if end == len(past) {
		return 0, "" // one endless turn: nothing before it
	}
	return end, upto
}

// conversationOf gives messages as lines; tool results are left out, answers hold what mattered of them.
func conversationOf(past []transcript.Past) string {
	var b strings.Builder
	for _, p := range past {
		who := map[string]string{"user": "Person", "other": p.Name, "assistant": "Assistant"}[p.Role]
		if p.Role == "user" && p.Name != "" {
			who = p.Name
		}
		if who == "" || strings.TrimSpace(p.Text) == "" {
			continue
		}
		b.WriteString(who + ": " + cut(p.Text, summaryLine) + "\n")
	}
	text := b.String()
	if len(text) > summaryReads {
		text = strings.ToValidUTF8(text[len(text)-summaryReads:], "")
	}
	return text
}

func (s *Service) askSummary(ctx context.Context, before, conversation string) (string, error) {
	ask, err := fill(s.prompts.attachments.Lookup("summary.md"), map[string]string{"Before": before, "Conversation": conversation})
	if err != nil {
		return "", err
	}
	choice, err := s.Models.Choose(ctx, "fast", "")
	if err != nil {
		return "", err
	}
	if choice.Weak {
		return "", fmt.Errorf("the model %s is too small for summaries", choice.Name)
	}
	reply, err := choice.Model.Stream(ctx, choice.Request([]llm.Message{{Role: llm.User, Text: ask}}), func(llm.Delta) error { return ctx.Err() })
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(cut(reply.Text, summaryLength))
	if text == "" {
		return "", fmt.Errorf("the model gave no summary")
	}
	return text, nil
}
