package agent

import (
	"fmt"
	"math"

	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// warnAt is how full a context is, in percent, when the person is told.
const warnAt = 85

// meter gives the usage event of a model call (§1 "Context meter"); nil where there is nothing to say: no tokens were
// reported and the context length is unknown.
func meter(c llm.Choice, prompt []llm.Message, reply llm.Reply) *transcript.Usage {
	u := &transcript.Usage{Model: c.Name, PromptTokens: reply.Usage.Prompt, CompletionTokens: reply.Usage.Completion}
	if c.ContextLength <= 0 {
		if reply.Usage == (llm.Usage{}) {
			return nil
		}
		return u
	}
	answer := reply.Usage.Completion
	if answer == 0 {
		answer = tokens(reply.Text) + tokens(reply.Thinking)
	}
	// Ollama reports only the part of a prompt that it had not cached, so the larger of the two counts is nearer.
	used := max(reply.Usage.Prompt, promptTokens(prompt)) + answer
	percent := int(math.Round(100 * float64(used) / float64(c.ContextLength)))
	u.ContextUsed, u.ContextLength, u.ContextPercent = &used, &c.ContextLength, &percent
	if percent >= warnAt {
		w := warning(c, percent)
		u.ContextWarning = &w
	}
	return u
}

func warning(c llm.Choice, percent int) string {
	what := fmt.Sprintf("This chat is getting long for %s (%d%% of what it reads at once). Older messages may be left out", plainName(c.Name), percent)
	if c.Local {
		return what + ": start a new chat, or set a longer context length in Settings > Models."
	}
	return what + ", so a new chat works best."
}

// What the parts of a prompt that are no text take, in tokens.
const (
	perMessage = 4
	perPicture = 800
)

func promptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += messageTokens(m)
	}
	return n
}

func messageTokens(m llm.Message) int {
	return perMessage + tokens(m.Text) + perPicture*len(m.Images)
}

// tokens estimates how many tokens a text takes: four letters each in English, about one and a half characters each in
// scripts without spaces. No tokenizer fits all models; this is within a tenth or two for text of people.
func tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + (2*other+2)/3
}

// replyShare is the part of a context that is kept free for the answer: a quarter.
const replyShare = 4

// fit leaves the oldest messages out until the rest fits what a model reads at once. The system prompt and the newest
// message always stay. A length of 0 is unknown: everything stays.
func fit(messages []llm.Message, length int) []llm.Message {
	if length <= 0 || len(messages) < 3 {
		return messages
	}
	room := length - length/replyShare - messageTokens(messages[0])
	first := len(messages) - 1
	for room -= messageTokens(messages[first]); first > 1; first-- {
		if room -= messageTokens(messages[first-1]); room < 0 {
			break
		}
	}
	for first < len(messages)-1 && messages[first].Role != llm.User {
		first++ // an answer whose question was left out would only confuse
	}
	if first == 1 {
		return messages
	}
	return append([]llm.Message{messages[0]}, messages[first:]...)
}
