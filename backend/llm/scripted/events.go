package scripted

import (
	"encoding/json"
	"net/http"
	"strings"

	"sentient/backend/llm"
)

// Done is the line that ends an OpenAI stream.
const Done = "data: [DONE]\n\n"

// Stream is a Play of these bytes as a 200 event stream.
func Stream(parts ...string) Play {
	p := Play{}
	for _, s := range parts {
		p.Parts = append(p.Parts, Part{Bytes: s})
	}
	return p
}

// Refuse is a Play that turns a request down with a JSON body.
func Refuse(status int, body string) Play {
	return Play{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Parts: []Part{{Bytes: body}}}
}

// Event frames one value as a server-sent event.
func Event(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ": " + err.Error() + "\n\n"
	}
	return "data: " + string(raw) + "\n\n"
}

// Delta is the event of one chat-completion chunk with this delta, e.g. map[string]any{"content": "hi"}.
func Delta(delta any) string {
	return Event(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nil}}})
}

// Text is the event of a piece of answer.
func Text(s string) string { return Delta(map[string]any{"content": s}) }

// End is the events that end an answer: the finish reason, the usage where it is not zero, and Done.
func End(finish llm.Finish, u llm.Usage) string {
	b := &strings.Builder{}
	b.WriteString(Event(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}}))
	if u != (llm.Usage{}) {
		b.WriteString(Event(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted", "choices": []any{},
			"usage": map[string]any{"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
				"prompt_tokens_details":     map[string]int{"cached_tokens": u.CacheRead},
				"completion_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning}}}))
	}
	b.WriteString(Done)
	return b.String()
}

// Answer is a Step as an OpenAI-compatible server streams it, so that one script drives a program from inside and from
// outside. Piece.Wait is left out (the wire has no clock); Piece.Note has no place on the wire. Err becomes an error event.
func Answer(s Step) Play {
	p := Play{Hang: s.Hang && s.Err == nil}
	for _, piece := range s.Pieces {
		if piece.Until != nil {
			p.Parts = append(p.Parts, Part{Until: piece.Until})
		}
		if piece.Thinking != "" {
			p.Parts = append(p.Parts, Part{Bytes: Delta(map[string]any{"reasoning_content": piece.Thinking})})
		}
		if piece.Text != "" {
			p.Parts = append(p.Parts, Part{Bytes: Text(piece.Text)})
		}
	}
	switch {
	case s.Err != nil:
		p.Parts = append(p.Parts, Part{Bytes: Event(map[string]any{"error": map[string]any{"message": s.Err.Error()}})})
		return p
	case s.Hang:
		return p
	case s.Cut:
		p.Cut = true
		return p
	}
	for i, c := range s.Calls {
		call := map[string]any{"index": i, "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)}}
		if c.ID != "" {
			call["id"] = c.ID
		}
		p.Parts = append(p.Parts, Part{Bytes: Delta(map[string]any{"tool_calls": []any{call}})})
	}
	finish := s.Finish
	if finish == "" {
		finish = llm.FinishStop
		if len(s.Calls) > 0 {
			finish = llm.FinishTools
		}
	}
	p.Parts = append(p.Parts, Part{Bytes: End(finish, s.Usage)})
	return p
}
