package doors

import (
	"encoding/json"
	"strings"
	"testing"

	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/testkit"
)

// namedChat is a chat with a name of its own, which nothing changes by itself, and one answered message.
func namedChat(k *testkit.Kit, text string) map[string]string {
	vars := anEmptyChat(k)
	k.Must("sessions.update", map[string]string{"id": vars["id"], "title": "Harbour"}, nil)
	in, err := json.Marshal(map[string]string{"session_id": vars["id"], "text": text})
	if err == nil {
		err = k.Stream(k.T.Context(), "chat.run", in, func(any) error { return nil })
	}
	if err != nil {
		k.T.Fatal(err)
	}
	k.WaitIdle(vars["id"])
	return vars
}

func answered(k *testkit.Kit) map[string]string { return namedChat(k, "Where is the harbour?") }

// answeredTwice is a chat whose first message has two answers beside each other.
func answeredTwice(k *testkit.Kit) map[string]string {
	vars := answered(k)
	var rows []session.Message
	k.Must("sessions.messages", map[string]string{"id": vars["id"]}, &rows)
	vars["message"], vars["turn"] = rows[0].ID, rows[0].TurnID
	k.Must("sessions.regenerate", map[string]string{"id": vars["id"], "message_id": rows[0].ID}, nil)
	k.WaitIdle(vars["id"])
	return vars
}

func withMessage(k *testkit.Kit) map[string]string {
	vars := answered(k)
	var rows []session.Message
	k.Must("sessions.messages", map[string]string{"id": vars["id"]}, &rows)
	vars["message"], vars["turn"] = rows[0].ID, rows[0].TurnID
	return vars
}

func TestBranches(t *testing.T) {
	run(t, append(refusals("sessions.regenerate", "POST", "/api/sessions/x/regenerate"),
		scenario{name: "unknown message", op: "sessions.regenerate", method: "POST", path: "/api/sessions/{id}/regenerate", before: answered, body: `{"message_id":"nothing"}`, status: 404},
		scenario{name: "a message of another chat", op: "sessions.regenerate", method: "POST", path: "/api/sessions/{other}/regenerate", before: func(k *testkit.Kit) map[string]string {
			vars := withMessage(k)
			vars["other"] = anEmptyChat(k)["id"]
			return vars
		}, body: `{"message_id":"{message}"}`, status: 404},
		scenario{name: "a model that is none", op: "sessions.regenerate", method: "POST", path: "/api/sessions/{id}/regenerate", before: withMessage, body: `{"message_id":"{message}","model":"gpt"}`, status: 422},
		scenario{name: "anew", op: "sessions.regenerate", method: "POST", path: "/api/sessions/{id}/regenerate", before: withMessage, body: `{"message_id":"{message}"}`, status: 200, has: []string{`"turn_id":"`},
			after: func(k *testkit.Kit, vars map[string]string) {
				k.WaitIdle(vars["id"])
				var rows []session.Message
				k.Must("sessions.messages", map[string]string{"id": vars["id"]}, &rows)
				if len(rows) != 2 || rows[0].Branch == nil || rows[0].Branch.Index != 1 || len(rows[0].Branch.Turns) != 2 || rows[0].Branch.Turns[0] != vars["turn"] {
					t.Errorf("%+v", rows)
				}
			}},
	))
	run(t, append(refusals("sessions.branch", "PATCH", "/api/sessions/x/branch"),
		scenario{name: "unknown chat", op: "sessions.branch", method: "PATCH", path: "/api/sessions/nobody/branch", body: `{"turn_id":"x"}`, status: 404},
		scenario{name: "unknown turn", op: "sessions.branch", method: "PATCH", path: "/api/sessions/{id}/branch", before: answered, body: `{"turn_id":"x"}`, status: 404},
		scenario{name: "back to the first answer", op: "sessions.branch", method: "PATCH", path: "/api/sessions/{id}/branch", before: answeredTwice, body: `{"turn_id":"{turn}"}`, status: 200,
			has: []string{`"turn_id":"{turn}"`}, events: map[string]int{"session.updated": 1},
			after: func(k *testkit.Kit, vars map[string]string) {
				var rows []session.Message
				k.Must("sessions.messages", map[string]string{"id": vars["id"]}, &rows)
				if len(rows) != 2 || rows[0].TurnID != vars["turn"] || rows[0].Branch.Index != 0 {
					t.Errorf("%+v", rows)
				}
			}},
	))
	run(t, append(refusals("sessions.fork", "POST", "/api/sessions/x/fork"),
		scenario{name: "unknown chat", op: "sessions.fork", method: "POST", path: "/api/sessions/nobody/fork", body: `{"message_id":"x"}`, status: 404},
		scenario{name: "unknown message", op: "sessions.fork", method: "POST", path: "/api/sessions/{id}/fork", before: answered, body: `{"message_id":"x"}`, status: 404},
		scenario{name: "a chat of its own", op: "sessions.fork", method: "POST", path: "/api/sessions/{id}/fork", before: withMessage, body: `{"message_id":"{message}"}`, status: 200, has: []string{`"session_id":"`}, lacks: []string{`"{id}"`},
			after: func(k *testkit.Kit, vars map[string]string) {
				var chats []session.Session
				k.Must("sessions.list", map[string]string{}, &chats)
				texts := map[string]string{}
				for _, c := range chats {
					var rows []session.Message
					k.Must("sessions.messages", map[string]string{"id": c.ID}, &rows)
					for _, m := range rows {
						texts[c.ID] += m.Role + ": " + m.Content + "\n"
					}
				}
				if len(chats) != 2 || texts[chats[0].ID] != texts[chats[1].ID] || texts[vars["id"]] == "" {
					t.Error(texts)
				}
			}},
	))
	run(t, append(refusals("sessions.resume", "POST", "/api/sessions/x/resume"),
		scenario{name: "unknown chat", op: "sessions.resume", method: "POST", path: "/api/sessions/nobody/resume", status: 404},
		scenario{name: "carried on", op: "sessions.resume", method: "POST", path: "/api/sessions/{id}/resume", before: answered, body: `{"client_id":"r1"}`, status: 200, has: []string{`"turn_id":"`}, after: func(k *testkit.Kit, vars map[string]string) {
			k.WaitIdle(vars["id"])
			var rows []session.Message
			k.Must("sessions.messages", map[string]string{"id": vars["id"]}, &rows)
			if n := len(rows); n != 4 || rows[2].Role != "event" || *rows[2].Name != "resumed" || rows[3].Role != "assistant" {
				t.Errorf("%+v", rows)
			}
		}},
	))
}

// helped is a chat whose reply started a helper.
func helped(k *testkit.Kit) map[string]string {
	id := namedChat(k, "Please ask a helper.")["id"]
	var list []struct {
		ID string `json:"subagent_id"`
	}
	k.Must("sessions.subagents", map[string]string{"id": id}, &list)
	if len(list) != 1 {
		k.T.Fatal("no helper was started")
	}
	return map[string]string{"id": id, "helper": list[0].ID}
}

// helpful asks a helper where it is asked to, and answers all else.
func helpful() *scripted.Model {
	return scripted.By(func(req llm.Request) scripted.Step {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == llm.User && strings.Contains(last.Text, "ask a helper") && len(req.Tools) > 0 {
			return scripted.Call("delegate_task", map[string]string{"goal": "Find the harbour."})
		}
		return scripted.Say("It is in the south.")
	})
}

func TestHelpers(t *testing.T) {
	with = []testkit.Option{testkit.WithModel(helpful())}
	defer func() { with = nil }()
	run(t, append(refusals("sessions.subagents", "GET", "/api/sessions/x/subagents"),
		scenario{name: "unknown chat", op: "sessions.subagents", method: "GET", path: "/api/sessions/nobody/subagents", status: 404},
		scenario{name: "none", op: "sessions.subagents", method: "GET", path: "/api/sessions/{id}/subagents", before: anEmptyChat, status: 200, has: []string{"[]"}},
		scenario{name: "one", op: "sessions.subagents", method: "GET", path: "/api/sessions/{id}/subagents", before: helped, status: 200, has: []string{`"goal":"Find the harbour."`, `"status":"completed"`, `"summary":"It is in the south."`, `"kind":"worker"`}},
	))
	run(t, append(refusals("subagents.get", "GET", "/api/subagents/x"),
		scenario{name: "unknown", op: "subagents.get", method: "GET", path: "/api/subagents/nobody", status: 404},
		scenario{name: "with its steps", op: "subagents.get", method: "GET", path: "/api/subagents/{helper}", before: helped, status: 200, has: []string{`"type":"final_answer"`, `"subagent_id":"{helper}"`}},
	))
	run(t, append(refusals("subagents.cancel", "POST", "/api/subagents/x/cancel"),
		scenario{name: "unknown", op: "subagents.cancel", method: "POST", path: "/api/subagents/nobody/cancel", status: 404},
		scenario{name: "ended already", op: "subagents.cancel", method: "POST", path: "/api/subagents/{helper}/cancel", before: helped, status: 200, has: []string{`"status":"completed"`}},
	))
}

func TestTools(t *testing.T) {
	run(t, append(refusals("tools.list", "GET", "/api/tools"),
		scenario{name: "all", op: "tools.list", method: "GET", path: "/api/tools", status: 200,
			has: []string{`"id":"files"`, `"id":"web"`, `"name":"file_read"`, `"risk":"read"`, `"name":"delegate_task"`, `"selection_hint":"`}},
	))
	run(t, append(refusals("openai.key", "POST", "/api/openai-api/key"),
		scenario{name: "new", op: "openai.key", method: "POST", path: "/api/openai-api/key", status: 200, has: []string{`"key":"sk-sentient-`, `"base_url":"http://127.0.0.1:`, `/v1"`}},
	))
}
