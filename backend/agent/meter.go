package agent

import (
	"fmt"
	"math"
	"slices"

	"sentient/backend/llm"
	"sentient/backend/transcript"
)

// warnAt is how full a context is, in percent, when the person is told.
const warnAt = 85

// meter gives the usage event of a model call (§1 "Context meter"); nil where there is nothing to say: no tokens were
// reported and the context length is unknown.
func meter(c llm.Choice, asked llm.Request, reply llm.Reply) *transcript.Usage {
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
	used := max(reply.Usage.Prompt, promptTokens(asked.Messages)+toolTokens(asked.Tools)) + answer
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
	n := perMessage + tokens(m.Text) + perPicture*len(m.Images)
	for _, c := range m.ToolCalls {
		n += perMessage + tokens(c.Name) + tokens(string(c.Arguments))
	}
	return n
}

// toolTokens is what the tools take in a prompt.
func toolTokens(tools []llm.Tool) int {
	n := 0
	for _, t := range tools {
		n += perMessage + tokens(t.Name) + tokens(t.Description) + tokens(string(t.Parameters))
	}
	return n
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

// fit leaves the oldest messages out until the rest fits what a model reads at once, beside the tools. The system prompt and
// what came since the newest message of the person always stay; where that alone is too much, the results of its older
// calls are left out. A length of 0 is unknown: everything stays.
func fit(messages []llm.Message, length, tools int) []llm.Message {
	if length <= 0 || len(messages) < 3 {
		return messages
	}
	newest := len(messages) - 1
	for newest > 1 && messages[newest].Role != llm.User {
		newest--
	}
	room := length - length/replyShare - tools - messageTokens(messages[0]) - promptTokens(messages[newest:])
	first := newest
	for ; first > 1; first-- {
		if room -= messageTokens(messages[first-1]); room < 0 {
			break
		}
	}
	for first < newest && messages[first].Role != llm.User {
		first++ // an answer whose question was left out would only confuse
	}
	if first > 1 {
		messages = append([]llm.Message{messages[0]}, messages[first:]...)
	}
	if over := promptTokens(messages) + tools - (length - length/replyShare); over > 0 {
		return withoutResults(messages, over)
	}
	return messages
}

// leftOut stands where a result was left out to make room.
const leftOut = "[An older result was left out here to make room.]"

// withoutResults leaves out the oldest results, but for those of the last round, until so many tokens are saved.
func withoutResults(messages []llm.Message, over int) []llm.Message {
	messages = slices.Clone(messages)
	last := len(messages) - 1
	for last > 0 && messages[last].Role != llm.Assistant {
		last--
	}
	for i := 0; i < last && over > 0; i++ {
		if m := messages[i]; m.Role == llm.ToolRole && len(m.Text) > len(leftOut) {
			over -= tokens(m.Text) - tokens(leftOut)
			messages[i].Text = leftOut
		}
	}
	return messages
}
