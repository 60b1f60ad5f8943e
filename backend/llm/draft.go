package llm

import (
	"crypto/rand"
	"strings"
)

// Draft collects an answer while it streams: adapters put in what their service sends, the caller's each gets the
// deltas, and Reply has the whole. It is used by one goroutine.
type Draft struct {
	each     func(Delta) error
	stopped  error // what each gave
	closed   bool
	filter   ThinkFilter
	cut      string // a letter that the service has sent half of
	text     strings.Builder
	thinking strings.Builder

	// Calls are the tool calls so far.
	Calls Calls
	// Usage and Finish are the adapter's to set.
	Usage  Usage
	Finish Finish
}

// NewDraft makes an empty Draft.
func NewDraft(each func(Delta) error) *Draft { return &Draft{each: each} }

// Say takes a piece of content, thinking tags and all.
func (d *Draft) Say(s string) error {
	if s == "" {
		return nil
	}
	s, d.cut = whole(d.cut + s)
	return d.give(d.filter.Write(s))
}

// Think takes a piece of thinking that the service sent apart from the content.
func (d *Draft) Think(s string) error {
	if s == "" {
		return nil
	}
	return d.give([]Delta{{Thinking: s}})
}

// Note gives the person a calm line that is no part of the answer.
func (d *Draft) Note(s string) error { return d.tell(Delta{Note: s}) }

// Stopped is the error with which the caller's each ended the answer; nil when it did not.
func (d *Draft) Stopped() error { return d.stopped }

func (d *Draft) tell(x Delta) error {
	if d.stopped == nil {
		d.stopped = d.each(x)
	}
	return d.stopped
}

// Abandon keeps what the filter still held, without telling each: the answer was cut off.
func (d *Draft) Abandon() {
	stopped := d.stopped
	d.each, d.stopped = func(Delta) error { return nil }, nil
	_ = d.Close()
	d.stopped = stopped
}

// Close gives what the filter still held. It is called once, when the answer is whole.
func (d *Draft) Close() error {
	if d.closed {
		return d.stopped
	}
	d.closed = true
	deltas := d.filter.Write(d.cut)
	d.cut = ""
	return d.give(append(deltas, d.filter.End()...))
}

// Empty says that the service sent neither text nor thinking nor a tool call.
func (d *Draft) Empty() bool {
	return d.text.Len() == 0 && d.thinking.Len() == 0 && d.Calls.Len() == 0
}

// Reply gives what has arrived. Calls get their ids here, see Calls.List.
func (d *Draft) Reply() Reply {
	r := Reply{Text: d.text.String(), Thinking: strings.TrimSpace(d.thinking.String()), ToolCalls: d.Calls.List(), Usage: d.Usage, Finish: d.Finish}
	if len(r.ToolCalls) > 0 && r.Finish == FinishStop {
		r.Finish = FinishTools // several servers say "stop"
	}
	return r
}

func (d *Draft) give(deltas []Delta) error {
	for _, x := range deltas {
		if x.Thought {
			d.thinking.WriteString(d.text.String())
			d.text.Reset()
		}
		d.text.WriteString(x.Text)
		d.thinking.WriteString(x.Thinking)
		_ = d.tell(x)
	}
	return d.stopped
}

// NewCallID makes an id for a tool call that came without one: unique in any chat, and of letters and digits only, as the
// strictest service wants.
func NewCallID() string { return "call" + rand.Text()[:20] }
