package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"sentient/backend/errs"
	"sentient/backend/store"
	"sentient/backend/transcript"
)

// SendInput is a message (chat.send, §1).
type SendInput struct {
	SessionID   string   `json:"session_id,omitempty" maxLength:"64" doc:"The chat; left out: a new one."`
	Text        string   `json:"text" maxLength:"1000000"`
	Attachments []string `json:"attachments,omitempty" maxItems:"20" doc:"Names of files, as the list of files has them."`
	Model       string   `json:"model,omitempty" maxLength:"200" doc:"provider/model, for this message only."`
	ClientID    string   `json:"client_id,omitempty" maxLength:"128" doc:"The sender's own id of the message: sending it again starts nothing."`
	Incognito   bool     `json:"incognito,omitempty" doc:"Makes the new chat an incognito one; ignored with session_id."`
	Replaces    string   `json:"replaces,omitempty" maxLength:"64" doc:"The id of an earlier message of the person: this one takes its place, in a branch of its own."`
}

// SendResult says where the message is answered. Steered: in the reply that was running.
type SendResult struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id"`
	Steered   bool   `json:"steered,omitempty"`
}

// message is a message on its way into a chat.
type message struct {
	SendInput
	turnID string // the one it opens

	channel  string  // "" is desktop
	from     string  // who wrote it, where that is not the person
	noMemory bool    // the turn may not use what Sentient knows
	resumes  bool    // it carries on the chat's last reply, which was cut off, and has no words
	alone    bool    // a chat that is being answered refuses it
	beside   string  // the turn whose place it takes
	halts    *uint64 // Halts when it was asked: once everything was stopped since, it is not begun; nil: it does not matter
	goneToo  bool    // attachments that are gone are no refusal: they were there when it was first sent
}

// Send puts a message into a chat, or a new one, and has it answered: in the reply that is running (§10 "Steering"), or in a
// turn of its own, at once or, with attachments, after what the chat is answering now. When it returns, the message is in
// the database and its turn will end with a done. A client_id that was sent before is answered as it was then. 404 for an
// unknown chat or attachment, 422 for an empty message or a model that is none, 409 for a message that takes another's
// place while the chat is being answered.
func (s *Service) Send(ctx context.Context, in *SendInput) (*SendResult, error) {
	found, err := s.send(ctx, message{SendInput: *in, turnID: transcript.NewID()})
	if err != nil {
		return nil, err
	}
	return &SendResult{found.SessionID, found.TurnID, found.Steered}, nil
}

func (s *Service) send(ctx context.Context, m message) (transcript.Found, error) {
	o, err := s.check(ctx, m)
	if err != nil {
		if found, again := s.sentBefore(ctx, m.ClientID); again {
			s.sentAgain(found, m.ClientID)
			return found, nil
		}
		return transcript.Found{Ref: o.Ref}, err
	}
	o.TurnID = m.turnID
	isNew := o.SessionID == ""
	if isNew {
		o.SessionID = transcript.NewID()
	}
	l, leave, err := s.enter(ctx, o.SessionID, false)
	if err != nil {
		return transcript.Found{Ref: o.Ref}, err
	}
	defer leave()
	if m.steers() {
		if found, taken, err := s.steer(ctx, l, o); taken || err != nil {
			return found, err
		}
	}
	if m.halts != nil && *m.halts != s.Halts() {
		return transcript.Found{Ref: o.Ref}, errStoppedBefore()
	}
	o.Queued = s.busy(l)
	if o.Queued && (m.alone || o.Beside != "") {
		if found, again := s.sentBefore(ctx, m.ClientID); again {
			return found, nil
		}
		return transcript.Found{Ref: o.Ref}, errBusy()
	}
	return s.begin(ctx, l, o, m, isNew)
}

// steers reports whether a message joins a reply that is running. With attachments it never does (§10).
func (m *message) steers() bool {
	return len(m.Attachments) == 0 && m.Replaces == "" && m.beside == "" && !m.resumes && !m.alone
}

func errStoppedBefore() error {
	return errs.New(errs.Conflict, "stopped", "Stopped.")
}

func errBusy() error {
	return errs.New(errs.Conflict, "chat_busy", "This chat is being answered. Wait for the reply, or stop it first.")
}

// begin opens a turn and has it answered. The caller is behind the lane's door.
func (s *Service) begin(ctx context.Context, l *lane, o transcript.Opening, m message, isNew bool) (transcript.Found, error) {
	t := &turn{Opening: o, lane: l, incognito: m.Incognito, channel: cmp.Or(m.channel, "desktop"), memory: !m.noMemory, halts: m.halts, ended: make(chan struct{})}
	first, told, err := s.open(ctx, t, isNew)
	if err != nil {
		return transcript.Found{Ref: o.Ref}, err
	}
	if first.Ref == o.Ref {
		t.ctx, t.cancel = context.WithCancelCause(context.Background())
		t.reply = s.Transcript.Reply(t.Opening)
		defer s.admit(t) // after its session event, and whatever telling that does: it is in the log now
	}
	told()
	s.sentAgain(first, o.ClientID)
	return first, nil
}

// sentAgain tells what a message was answered with when it was sent (decision 12).
func (s *Service) sentAgain(found transcript.Found, clientID string) {
	if found.Steered {
		s.Transcript.SteerTaken(found.SessionID, clientID, true)
		return
	}
	s.Transcript.Opened(found.Ref, clientID)
}

// sentBefore gives the turn of a client_id that is known. What has been taken once is not checked again: a file that was
// attached may be gone by now.
func (s *Service) sentBefore(ctx context.Context, clientID string) (found transcript.Found, again bool) {
	if clientID == "" {
		return found, false
	}
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		found, again, err = s.Transcript.Find(tx, clientID)
		return err
	})
	return found, err == nil && again
}

// open writes all that must be in the database before a model is asked, in one transaction. It gives the turn that
// answers the message: the one whose client_id it repeats, if any.
func (s *Service) open(ctx context.Context, t *turn, isNew bool) (first transcript.Found, told func(), err error) {
	settle := !t.Queued && s.takeUnended(t.SessionID)
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		first, told = transcript.Found{Ref: t.Ref}, func() {}
		if t.ClientID != "" {
			found, again, err := s.Transcript.Find(tx, t.ClientID)
			if err != nil || again {
				first = found
				return err
			}
		}
		if isNew {
			if err := s.Chats.Add(tx, t.SessionID, t.channel, t.incognito); err != nil {
				return err
			}
		}
		if settle {
			if err := s.Transcript.Settle(tx, t.SessionID); err != nil {
				return err
			}
		}
		var err error
		if t.chatModel, t.incognito, told, err = s.Chats.Enter(tx, t.SessionID, t.Attachments); err != nil {
			return err
		}
		return s.Transcript.Open(tx, t.Opening)
	})
	if settle && (err != nil || first.Ref != t.Ref) {
		s.markUnended(t.SessionID)
	}
	return first, told, err
}

// check refuses what cannot be sent and cleans the rest.
func (s *Service) check(ctx context.Context, in message) (transcript.Opening, error) {
	text := strings.ReplaceAll(strings.ToValidUTF8(in.Text, "\uFFFD"), "\x00", "\uFFFD")
	o := transcript.Opening{Ref: transcript.Ref{SessionID: in.SessionID}, Text: text, ClientID: in.ClientID, Model: in.Model,
		From: in.from, Resumes: in.resumes, Beside: in.beside}
	if strings.TrimSpace(text) == "" && len(in.Attachments) == 0 && !in.resumes {
		return o, invalid("text", "message_empty", "Write something first.")
	}
	if utf8.RuneCountInString(text) > 1_000_000 {
		return o, invalid("text", "message_too_long", "This message is too long. Attach it as a file instead.")
	}
	if len(in.ClientID) > 128 {
		return o, invalid("client_id", "client_id_invalid", "A client_id has at most 128 bytes.")
	}
	if provider, name, ok := strings.Cut(in.Model, "/"); in.Model != "" && (!ok || provider == "" || name == "") {
		return o, invalid("model", "model_invalid", "A model is written as provider/model, for example ollama_chat/qwen3:8b.")
	}
	if len(in.Attachments) > 20 {
		return o, invalid("attachments", "too_many_attachments", "A message can have up to 20 attachments.")
	}
	if in.Replaces != "" {
		beside, err := s.Transcript.TurnOf(ctx, in.SessionID, in.Replaces)
		if err != nil {
			return o, err
		}
		o.Beside = beside
	}
	for _, name := range in.Attachments {
		if slices.Contains(o.Attachments, name) {
			continue
		}
		if _, _, _, err := s.Files.ReadFile(ctx, name, 0); err != nil && !(in.goneToo && errs.Is(err, errs.NotFound)) {
			return o, err
		}
		o.Attachments = append(o.Attachments, name)
	}
	return o, nil
}

func invalid(field, code, message string) error {
	return errs.New(errs.Invalid, code, message).WithFields(errs.Field{Loc: []string{field}, Msg: message, Type: "value_error"})
}

// CancelInput names a chat.
type CancelInput struct {
	SessionID string `json:"session_id"`
}

// CancelResult says whether there was something to stop.
type CancelResult struct {
	Cancelled bool `json:"cancelled"`
}

// Cancel stops what a chat is answering (chat.cancel): what was written is kept, and a message that waits is answered
// next. It does not wait for the end, which its done tells.
func (s *Service) Cancel(_ context.Context, in *CancelInput) (*CancelResult, error) {
	t := s.current(in.SessionID)
	if t != nil {
		t.cancel(errStopped)
	}
	return &CancelResult{t != nil}, nil
}

func (s *Service) markUnended(session string) {
	s.mu.Lock()
	s.unended[session] = struct{}{}
	s.mu.Unlock()
}

func (s *Service) takeUnended(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.unended[session]
	delete(s.unended, session)
	return is
}
