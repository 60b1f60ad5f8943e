package agent

import (
	"cmp"
	"context"

	"sentient/backend/errs"
	"sentient/backend/transcript"
)

// unattended says of a channel that nobody sits before it: what was cut off there is carried on by itself (decision 13).
func unattended(channel string) bool { return channel != "desktop" && channel != "voice" }

// mayNotRemember says of a channel that a turn which is carried on there goes without what Sentient knows about the person:
// whether the other app was allowed it when it asked is not kept.
func mayNotRemember(channel string) bool { return channel == "api" }

// carryOn goes on where the last run was cut off, on surfaces that nobody watches: replies first, then the messages that
// waited behind them, in their order.
func (s *Service) carryOn(ctx context.Context, found transcript.Recovered) error {
	for _, ref := range found.CutOff {
		_, channel, _, err := s.Chats.About(ctx, ref.SessionID)
		if err != nil {
			return err
		}
		_, err = s.send(ctx, message{SendInput: SendInput{SessionID: ref.SessionID}, turnID: transcript.NewID(), resumes: true, channel: channel, noMemory: mayNotRemember(channel)})
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	for _, o := range found.Waiting {
		if err := s.readmit(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// readmit lets a message that waited in the last run wait again.
func (s *Service) readmit(ctx context.Context, o transcript.Opening) error {
	l, leave, err := s.enter(ctx, o.SessionID, false)
	if err != nil {
		return err
	}
	defer leave()
	t := &turn{Opening: o, lane: l, ended: make(chan struct{})}
	if t.chatModel, t.channel, t.incognito, err = s.Chats.About(ctx, o.SessionID); err != nil {
		return err
	}
	t.memory = !mayNotRemember(t.channel)
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.reply = s.Transcript.Reply(o)
	s.admit(t)
	return nil
}

// ResumeInput names a chat whose last reply was cut off.
type ResumeInput struct {
	ID       string `json:"id" in:"path"`
	ClientID string `json:"client_id,omitempty" maxLength:"128" doc:"The sender's own id: sending it again starts nothing."`
}

// Resume carries on the reply that a chat's newest turn was cut off in. 409 while the chat is being answered.
func (s *Service) Resume(ctx context.Context, in *ResumeInput) (*SendResult, error) {
	found, err := s.send(ctx, message{SendInput: SendInput{SessionID: in.ID, ClientID: in.ClientID}, turnID: transcript.NewID(), resumes: true, alone: true})
	if err != nil {
		return nil, err
	}
	return &SendResult{SessionID: found.SessionID, TurnID: found.TurnID}, nil
}

// RegenerateInput says which reply is wanted anew.
type RegenerateInput struct {
	ID        string `json:"id" in:"path"`
	MessageID string `json:"message_id" maxLength:"64" doc:"Any message of the turn: the person's, or the reply's."`
	Model     string `json:"model,omitempty" maxLength:"200" doc:"provider/model, for this reply only."`
	ClientID  string `json:"client_id,omitempty" maxLength:"128" doc:"The sender's own id: sending it again starts nothing."`
}

// Regenerate answers a message anew, in a branch beside the first answer, which is kept (decision 16). 404 for an unknown
// message, 409 while the chat is being answered.
func (s *Service) Regenerate(ctx context.Context, in *RegenerateInput) (*SendResult, error) {
	beside, o, err := s.Transcript.OpeningBy(ctx, in.ID, in.MessageID)
	if err != nil {
		return nil, err
	}
	m := message{SendInput: SendInput{SessionID: in.ID, Text: o.Text, Attachments: o.Attachments, Model: cmp.Or(in.Model, o.Model), ClientID: in.ClientID},
		turnID: transcript.NewID(), from: o.From, resumes: o.Resumes, beside: beside, goneToo: true}
	found, err := s.send(ctx, m)
	if err != nil {
		return nil, err
	}
	return &SendResult{SessionID: found.SessionID, TurnID: found.TurnID}, nil
}
