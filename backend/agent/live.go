package agent

import "context"

// LiveInput names a chat.
type LiveInput struct {
	ID string `json:"id" in:"path"`
}

// LiveState is the message that a chat's reply is writing. TurnID is null while it writes none.
type LiveState struct {
	TurnID    *string     `json:"turn_id"`
	ClientID  string      `json:"client_id"`
	MessageID string      `json:"message_id" doc:"Of the open message: deltas with another id belong to another one."`
	Text      string      `json:"text"`
	Thinking  string      `json:"thinking"`
	Seq       uint64      `json:"seq" doc:"The number of the last event that is in text and thinking."`
	Steers    []LiveSteer `json:"steers" doc:"What was said into the reply and is not read yet, oldest first."`
}

// LiveSteer is something said into a reply that its model has not read yet.
type LiveSteer struct {
	Text     string `json:"text"`
	ClientID string `json:"client_id"`
}

// Live gives the reply that is being written and the place in the stream of events that it includes (R21). A window that
// opens a chat in the middle of a reply first listens, then asks for this, then for the messages; it draws text, skips
// events up to Seq, and applies of each later delta what lies beyond the text it has (its offset says where it starts):
// what it shows is then exactly what a window saw that was there all along. Where TurnID is null, a done it hears of
// later belongs to a turn that began later.
func (s *Service) Live(_ context.Context, in *LiveInput) (*LiveState, error) {
	seq := s.Bus.Seq() // before looking: what a turn that begins now tells comes after it
	if t := s.current(in.ID); t != nil {
		if open, ok := t.reply.Live(); ok {
			return &LiveState{TurnID: &t.TurnID, ClientID: t.ClientID, MessageID: open.MessageID, Text: open.Text, Thinking: open.Thinking,
				Seq: open.Seq, Steers: s.waiting(t)}, nil
		}
	}
	return &LiveState{Seq: seq, Steers: []LiveSteer{}}, nil
}

func (s *Service) waiting(t *turn) []LiveSteer {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]LiveSteer, len(t.steers))
	for i, w := range t.steers {
		list[i] = LiveSteer{w.Text, w.ClientID}
	}
	return list
}
