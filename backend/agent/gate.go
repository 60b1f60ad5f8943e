package agent

import (
	"context"

	"sentient/backend/approval"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// turnSurface is that of a chat's turn. Nobody is asked yet, because no surface shows a request: what needs a yes does not
// run.
func turnSurface() approval.Surface {
	surface := approval.Chat()
	surface.Asks = false
	surface.Unanswered = "Not done: %s needs the user's yes, and Sentient can't ask for it yet. Tell the user what you would have done."
	return surface
}

// enterGate begins the gate's run of a turn: what the chat has read counts from its start.
func (s *Service) enterGate(t *turn, call tool.Context) (*approval.Run, error) {
	b := approval.Begin{Surface: turnSurface(), Context: call, Mark: t.From, Past: func(ctx context.Context) ([]approval.Passed, error) { return s.passed(ctx, t.Ref) }}
	if t.From == "" && t.Text != "" {
		b.Words = []string{t.Text}
	}
	return s.Gate.Begin(t.ctx, b)
}

// passed gives a chat as the gate reads it: each result with the arguments of its call.
func (s *Service) passed(ctx context.Context, ref transcript.Ref) ([]approval.Passed, error) {
	rows, err := s.Transcript.Evidence(ctx, ref)
	if err != nil {
		return nil, err
	}
	args := map[string][]byte{}
	var past []approval.Passed
	for _, r := range rows {
		for _, c := range r.Calls {
			args[c.ID] = c.Arguments
		}
		switch r.Role {
		case "user", "other":
			past = append(past, approval.Passed{Role: r.Role, From: r.Name, Text: r.Text, OnPath: r.OnPath})
		case "tool":
			past = append(past, approval.Passed{Role: r.Role, Tool: r.Name, Args: args[r.CallID], Text: r.Text, Outside: r.Outside, OnPath: r.OnPath})
		}
	}
	return past, nil
}

// readerSurface is the reader's: look-ups that run without a question (§10 `read_with_reader`).
func readerSurface() approval.Surface {
	return approval.Surface{Name: "reader", Unanswered: "Not done: the reader cannot run %s, because it needs the user's OK first.",
		Refuses: func(t *tool.Tool, p *tool.Plugin, risk tool.Risk) string {
			switch {
			case p.ID == PluginID:
				return "The reader cannot run " + t.Name + "."
			case t.Risk != tool.Read || risk != tool.Read:
				return "The reader only runs look-ups, and " + t.Name + " is none."
			}
			return ""
		}}
}
