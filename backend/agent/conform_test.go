package agent_test

import (
	"context"
	"testing"

	"sentient/backend/approval"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/tool"
	"sentient/backend/toolbox/conform"
)

// The tools that start helpers keep the contract of a tool like all others, which are tried beside their plugins.
func TestHelpersToolsConform(t *testing.T) {
	r := withHelpers(t, scripted.By(func(llm.Request) scripted.Step { return scripted.Say(`{"f": "Done."}`) }), gives("look", "Done."))
	chat, err := r.chats.Create(t.Context(), &session.CreateInput{})
	if err != nil {
		t.Fatal(err)
	}
	at := func() *tool.Context { return &tool.Context{SessionID: chat.SessionID, CallID: "call_1", Memory: true} }
	gated := func(ctx context.Context) context.Context {
		run, err := r.gate.Begin(ctx, approval.Begin{Surface: approval.Chat(), Context: *at()})
		if err != nil {
			t.Fatal(err)
		}
		return approval.Within(ctx, run)
	}
	conform.Plugin(t, r.tools.helpers,
		conform.Case{Tool: "delegate_task", Args: `{"goal":"Find trains"}`, Context: at(), Within: gated},
		conform.Case{Tool: "delegate_tasks", Args: `{"tasks":[{"goal":"One"},{"goal":"Two"}]}`, Context: at(), Within: gated},
		conform.Case{Tool: "read_with_reader", Args: `{"tool":"look","fields":{"f":"text"}}`, Context: at(), Within: gated})
}
