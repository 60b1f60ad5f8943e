package approval

import (
	"context"
	"fmt"

	"sentient/backend/tool"
)

// Surface is where a run's calls come from, and what that allows.
type Surface struct {
	Name string // chat, helper, reader
	// Asks says that a call may wait for the person's answer. Where it may not, a call that needs one does not run.
	Asks bool
	// Unanswered is how a call that needs an answer is refused where nobody can be asked; it is given the tool's name.
	Unanswered string
	// Refuses is the surface's own policy: why a call does not run there, or "". nil: none.
	Refuses func(t *tool.Tool, p *tool.Plugin, risk tool.Risk) string
	// Rehearse takes a call's place in a try run (§4 "Try it first"). nil: calls run.
	Rehearse func(ctx context.Context, c *Case) (result any, instead bool)
}

// Chat is a turn of a chat: the person, or whoever answers for the surface, can be asked.
func Chat() Surface { return Surface{Name: "chat", Asks: true} }

// Helper is a helper that a chat started: nothing that sends or runs code, no helpers of its own, and nobody to ask (§10
// "Subagents"). helpers is the id of the plugin that starts them.
func Helper(helpers string) Surface {
	return Surface{Name: "helper",
		Unanswered: "Not done: %s needs the user's approval, and a helper can't ask for it. Say in your answer that it is left to do.",
		Refuses: func(t *tool.Tool, p *tool.Plugin, risk tool.Risk) string {
			switch {
			case p.ID == helpers:
				return "Not done: a helper cannot start helpers. Do this part yourself, or say in your answer what is left to do."
			case risk >= tool.Send:
				return fmt.Sprintf("Not done: a helper cannot run %s, because it sends something or runs code. Say in your answer that it is left to do.", t.Name)
			}
			return ""
		}}
}

// undoable are the channels in which somebody can press Undo (§10 "Undo window").
var undoable = map[string]bool{"desktop": true, "telegram": true, "discord": true, "whatsapp": true}

// otherApps are the channels in which another program speaks: deletes ask there in every mode (§2).
var otherApps = map[string]bool{"api": true, "mcp": true}

// unprompted are the origins of work that nobody asked for (§10 "Work nobody asked for").
var unprompted = map[string]bool{"proactive": true, "heartbeat": true, "followups": true, "dreaming": true, "background": true}

// ofMemory are the tools that read what Sentient knows about the person: a turn without memory never runs them (§10 "Turns
// without memory").
var ofMemory = map[string]bool{"memory_recall": true, "memory_search_by_source": true, "memory_search_history": true, "history_semantic_search": true,
	"history_time_search": true, "user_model_ask": true, "memory_forget": true}
