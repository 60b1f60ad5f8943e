package v1

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"sentient/backend/errs"
	"sentient/backend/svc"
	"sentient/backend/transcript"
)

// answer makes OpenAI's shapes of one turn's chat events: chunks as they come, or one completion at the end. Both are
// of the same text.
type answer struct {
	w       *writer
	created int64
	want    wanted
	id      string
	began   bool // a stream has its status and its first chunk

	text    strings.Builder
	message string // the message that is being written
	joining bool   // it follows another one, and nothing of it was passed on yet
	used    usage
	done    *transcript.DoneEvent
	fault   string // the sentence of the error that ended the turn
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

// choice has a message where the answer comes whole and a delta where it is streamed. FinishReason is null until the
// end: a client that finds anything else in it stops reading.
type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *delta   `json:"delta,omitempty"`
	Logprobs     *int     `json:"logprobs"`
	FinishReason *string  `json:"finish_reason"`
}

type completion struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage,omitempty"`
}

const (
	wholeObject = "chat.completion"
	chunkObject = "chat.completion.chunk"
	finishStop  = "stop"
)

// follow runs the turn and passes on what it tells. A stream shows that it lives while the turn says nothing, as it
// does while it waits for the person's OK.
func (h *handler) follow(ctx context.Context, q Question, a *answer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return svc.Run(ctx,
		func(ctx context.Context) error {
			defer cancel()
			return h.Turns.Ask(ctx, q, a.take)
		},
		a.w.keepAlive)
}

// take reads one chat event. What is not of the reply (thinking, tools, notices) is for the window.
func (a *answer) take(l transcript.Line) error {
	switch e := l.Payload.(type) {
	case transcript.SessionEvent:
		return a.begin(e.TurnID)
	case transcript.TextDelta:
		return a.say(e.MessageID, e.Text)
	case transcript.UsageEvent:
		a.used.Prompt += e.PromptTokens
		a.used.Completion += e.CompletionTokens
		a.used.Total = a.used.Prompt + a.used.Completion
	case transcript.ErrorEvent:
		if !e.Recoverable {
			a.fault = e.Message
		}
	case transcript.DoneEvent:
		a.done = &e
	}
	return nil
}

// begin starts a stream: from here on the turn runs, and its errors are lines.
func (a *answer) begin(turn string) error {
	if a.id == "" {
		if turn == "" {
			turn = uuid.NewString()
		}
		a.id = "chatcmpl-" + turn
	}
	if !a.want.stream || a.began {
		return nil
	}
	a.began = true
	a.w.begin()
	return a.chunk(&delta{Role: "assistant"}, nil)
}

// say passes on a piece of a message. A turn that uses tools writes several: they stand apart by a blank line, as the
// window shows them apart.
func (a *answer) say(from, piece string) error {
	if from != a.message {
		a.joining = strings.TrimSpace(a.text.String()) != ""
		a.message = from
	}
	if a.joining {
		piece = strings.TrimLeft(piece, "\r\n")
	}
	if piece == "" {
		return nil
	}
	if a.joining {
		piece, a.joining = blankLine(a.text.String())+piece, false
	}
	a.text.WriteString(piece)
	if !a.want.stream {
		return nil
	}
	if err := a.begin(""); err != nil {
		return err
	}
	return a.chunk(&delta{Content: &piece}, nil)
}

// blankLine gives the line breaks that a text lacks for a blank line at its end.
func blankLine(text string) string {
	ends := len(text) - len(strings.TrimRight(text, "\n"))
	return strings.Repeat("\n", max(0, 2-ends))
}

// chunk sends one chunk of the stream. Where usage was asked for, each but the last says null.
func (a *answer) chunk(d *delta, finish *string) error {
	c := a.shape(chunkObject, choice{Delta: d, FinishReason: finish})
	if a.want.usage {
		c.Usage = json.RawMessage("null")
	}
	return a.w.event(c)
}

func (a *answer) shape(object string, choices ...choice) completion {
	return completion{ID: a.id, Object: object, Created: a.created, Model: model, Choices: choices}
}

// outcome gives why there is no answer, or nil. err is how following the turn ended.
func (a *answer) outcome(err error) error {
	switch {
	case err != nil:
		return turnFailed(err)
	case a.done == nil:
		return turnFailed(errs.New(errs.Internal, "internal", "Something went wrong inside Sentient. The details are in its log."))
	case a.done.Cancelled:
		return errStopped()
	case a.done.Error != "":
		return errs.New(errs.Internal, "turn_failed", a.done.Error)
	case a.fault != "":
		return errs.New(errs.Internal, "turn_failed", a.fault)
	}
	return nil
}

// finish ends the stream, or sends the whole answer.
func (a *answer) finish() error {
	if err := a.begin(""); err != nil {
		return err
	}
	used, err := json.Marshal(a.used)
	if err != nil {
		return err
	}
	stop := finishStop
	if !a.want.stream {
		c := a.shape(wholeObject, choice{Message: &message{Role: "assistant", Content: a.text.String()}, FinishReason: &stop})
		c.Usage = used
		return a.w.whole(http.StatusOK, c)
	}
	if err := a.chunk(&delta{}, &stop); err != nil {
		return err
	}
	if a.want.usage {
		c := a.shape(chunkObject)
		c.Choices, c.Usage = []choice{}, used
		if err := a.w.event(c); err != nil {
			return err
		}
	}
	return a.w.done()
}

// fail ends a stream that has begun with an error.
func (a *answer) fail(f Fault) error {
	if err := a.w.event(faultBody{f}); err != nil {
		return err
	}
	return a.w.done()
}
