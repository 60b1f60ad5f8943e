package doors

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/testkit"
)

func aChat(k *testkit.Kit) map[string]string {
	id, _ := k.Ask("Where is the harbour?")
	return map[string]string{"id": id}
}

func anEmptyChat(k *testkit.Kit) map[string]string {
	var out session.CreateResult
	k.Must("sessions.create", session.CreateInput{}, &out)
	return map[string]string{"id": out.SessionID}
}

func TestChats(t *testing.T) {
	run(t, append(refusals("sessions.list", "GET", "/api/sessions"),
		scenario{name: "a limit that is no number", op: "sessions.list", method: "GET", path: "/api/sessions?limit=ten", status: 422, has: []string{"limit"}},
		scenario{name: "none yet", op: "sessions.list", method: "GET", path: "/api/sessions", status: 200, has: []string{"[]"}},
		scenario{name: "one", op: "sessions.list", method: "GET", path: "/api/sessions?limit=10", before: anEmptyChat, status: 200, has: []string{`"id":"{id}"`, `"untrusted":null`, `"visited_hosts":null`, `"memory_scope":"personal"`}},
	))
	run(t, append(refusals("sessions.create", "POST", "/api/sessions"),
		scenario{name: "a model that is none", op: "sessions.create", method: "POST", path: "/api/sessions?model=gpt", status: 422},
		scenario{name: "the shared memories", op: "sessions.create", method: "POST", path: "/api/sessions?memory_scope=always", status: 422},
		scenario{name: "new", op: "sessions.create", method: "POST", path: "/api/sessions?incognito=true&model=openai/gpt-5", status: 200, has: []string{`"session_id":"`}},
	))
	run(t, append(refusals("sessions.update", "PATCH", "/api/sessions/x"),
		scenario{name: "unknown chat", op: "sessions.update", method: "PATCH", path: "/api/sessions/nobody", body: `{"title":"x"}`, status: 404},
		scenario{name: "a title that is a number", op: "sessions.update", method: "PATCH", path: "/api/sessions/{id}", before: anEmptyChat, body: `{"title":7}`, status: 422},
		scenario{name: "renamed", op: "sessions.update", method: "PATCH", path: "/api/sessions/{id}", before: anEmptyChat, body: `{"title":"Tea"}`, status: 200, has: []string{`"title":"Tea"`}, lacks: []string{`"model"`}, events: map[string]int{"session.updated": 1}},
		scenario{name: "the default model again", op: "sessions.update", method: "PATCH", path: "/api/sessions/{id}", before: anEmptyChat, body: `{"model":null}`, status: 200, has: []string{`"model":null`}, lacks: []string{`"title"`}, events: map[string]int{"session.updated": 1}},
		scenario{name: "nothing sent", op: "sessions.update", method: "PATCH", path: "/api/sessions/{id}", before: anEmptyChat, body: `{}`, status: 200, has: []string{`"ok":true`}},
	))
	run(t, append(refusals("sessions.delete", "DELETE", "/api/sessions/x"),
		scenario{name: "unknown chat", op: "sessions.delete", method: "DELETE", path: "/api/sessions/nobody", status: 404},
		scenario{name: "deleted", op: "sessions.delete", method: "DELETE", path: "/api/sessions/{id}", before: anEmptyChat, status: 200, has: []string{`"ok":true`}, events: map[string]int{"session.deleted": 1}},
	))
	run(t, append(refusals("sessions.messages", "GET", "/api/sessions/x/messages"),
		scenario{name: "unknown chat", op: "sessions.messages", method: "GET", path: "/api/sessions/nobody/messages", status: 404},
		scenario{name: "a limit that is too large", op: "sessions.messages", method: "GET", path: "/api/sessions/{id}/messages?limit=100000000", before: anEmptyChat, status: 422},
		scenario{name: "none yet", op: "sessions.messages", method: "GET", path: "/api/sessions/{id}/messages", before: anEmptyChat, status: 200, has: []string{"[]"}},
	))
	run(t, append(refusals("sessions.live", "GET", "/api/sessions/x/live"),
		scenario{name: "no reply is written", op: "sessions.live", method: "GET", path: "/api/sessions/{id}/live", before: anEmptyChat, status: 200, has: []string{`"turn_id":null`}},
	))
	run(t, append(refusals("sessions.search", "GET", "/api/sessions/search?q=x"),
		scenario{name: "nothing there", op: "sessions.search", method: "GET", path: "/api/sessions/search?q=dinner", status: 200, has: []string{"[]"}},
		scenario{name: "odd characters", op: "sessions.search", method: "GET", path: "/api/sessions/search?q=%22%2A%28", status: 200, has: []string{"[]"}},
	))
}

// What a whole turn leaves is in the messages, and the search finds it.
func TestMessagesAfterATurn(t *testing.T) {
	k := testkit.Start(t)
	vars := aChat(k)
	status, messages := k.Do(k.Request("GET", "/api/sessions/"+vars["id"]+"/messages", ""))
	for _, want := range []string{`"role":"user"`, `"content":"Where is the harbour?"`, `"role":"assistant"`, `"content":"Hello."`, `"interjection":false`, `"memory_sources":[]`} {
		if status != http.StatusOK || !strings.Contains(messages, want) {
			t.Errorf("status %d, lacks %s: %s", status, want, messages)
		}
	}
	if _, found := k.Do(k.Request("GET", "/api/sessions/search?q=harbour", "")); !strings.Contains(found, vars["id"]) {
		t.Error("not found:", found)
	}
}

func TestChatStream(t *testing.T) {
	run(t, append(refusals("chat.run", "POST", "/api/chat"),
		scenario{name: "nothing to say", op: "chat.run", method: "POST", path: "/api/chat", body: `{"text":" "}`, status: 422, has: []string{`"code":"message_empty"`}},
		scenario{name: "not JSON", op: "chat.run", method: "POST", path: "/api/chat", body: `{"text"`, status: 400},
		scenario{name: "text that is a number", op: "chat.run", method: "POST", path: "/api/chat", body: `{"text":5}`, status: 422},
		scenario{name: "unknown chat", op: "chat.run", method: "POST", path: "/api/chat", body: `{"text":"Hi","session_id":"nobody"}`, status: 404},
		scenario{name: "unknown attachment", op: "chat.run", method: "POST", path: "/api/chat", body: `{"text":"Hi","attachments":["gone.txt"]}`, status: 404},
	))
	k := testkit.Start(t)
	status, body := k.Do(k.Request("POST", "/api/chat", `{"text":"Hi"}`))
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if status != http.StatusOK || !strings.HasPrefix(lines[0], `{"type":"session","session_id":"`) {
		t.Fatalf("status %d: %s", status, body)
	}
	if strings.Count(body, `{"type":"done"`) != 1 || !strings.HasPrefix(lines[len(lines)-1], `{"type":"done"`) {
		t.Errorf("not exactly one done at the end: %s", body)
	}
	covered["live.connect"]++ // the gateway's and the bound channel's own tests
}

// A model that fails: one error with a sentence, one done, and no row of a reply.
func TestChatOfAFailingModel(t *testing.T) {
	model := scripted.By(func(llm.Request) scripted.Step {
		return scripted.Fail(errs.New(errs.Unavailable, llm.CodeDown, "The model is down right now. Try again in a moment."))
	})
	k := testkit.Start(t, testkit.WithModel(model))
	_, body := k.Do(k.Request("POST", "/api/chat", `{"text":"Hi"}`))
	if strings.Count(body, `"type":"error"`) != 1 || strings.Count(body, `"type":"done"`) != 1 || !strings.Contains(body, `"message_id":null`) || !strings.Contains(body, `"recoverable":false`) {
		t.Error(body)
	}
	var list []session.Session
	k.Must("sessions.list", session.ListInput{}, &list)
	_, messages := k.Do(k.Request("GET", "/api/sessions/"+list[0].ID+"/messages", ""))
	if strings.Contains(messages, `"role":"assistant"`) {
		t.Error("a reply was kept:", messages)
	}
}

func upload(k *testkit.Kit, name, source, content string) (int, string) {
	k.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		k.T.Fatal(err)
	}
	_, _ = part.Write([]byte(content)) // a buffer takes everything
	if source != "" {
		_ = form.WriteField("source", source)
	}
	_ = form.Close()
	r := k.Request("POST", "/api/files", body.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	return k.Do(r)
}

func TestFiles(t *testing.T) {
	run(t, append(refusals("files.upload", "POST", "/api/files"),
		scenario{name: "not a form", op: "files.upload", method: "POST", path: "/api/files", body: `{}`, status: 400},
	))
	run(t, append(refusals("files.list", "GET", "/api/files"),
		scenario{name: "none yet", op: "files.list", method: "GET", path: "/api/files", status: 200, has: []string{"[]"}},
	))
	run(t, append(refusals("files.content", "GET", "/api/files/content/x.txt"),
		scenario{name: "gone", op: "files.content", method: "GET", path: "/api/files/content/x.txt", status: 404},
		scenario{name: "outside", op: "files.content", method: "GET", path: "/api/files/content/..%2f..%2fgateway.token", status: 404},
	))
	run(t, append(refusals("files.delete", "DELETE", "/api/files/x.txt"),
		scenario{name: "gone", op: "files.delete", method: "DELETE", path: "/api/files/x.txt", status: 404},
	))
	k := testkit.Start(t)
	if status, body := upload(k, "notes.md", "", "hello"); status != 200 || !strings.Contains(body, `"name":"notes.md"`) || !strings.Contains(body, `"size":5`) {
		t.Fatal(status, body)
	}
	if status, body := upload(k, "Inbox.png", "screen", "PNG"); status != 200 || !strings.Contains(body, `"name":"screens/Inbox `) {
		t.Fatal(status, body)
	}
	if status, body := upload(k, "x", "camera", "y"); status != 422 {
		t.Fatal(status, body)
	}
	r := k.Request("GET", "/api/files/content/notes.md", "")
	res, err := k.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || !strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Error(res.StatusCode, res.Header)
	}
	if status, _ := k.Do(k.Request("HEAD", "/api/files/content/notes.md", "")); status != 200 {
		t.Error("HEAD gave", status)
	}
	if status, _ := k.Do(k.Request("DELETE", "/api/files/notes.md", "")); status != 200 {
		t.Error("DELETE gave", status)
	}
}

func aNote(k *testkit.Kit) map[string]string {
	var note struct{ ID string }
	k.Must("notifications.create", map[string]string{"message": "Water the plants", "title": "Plants"}, &note)
	return map[string]string{"id": note.ID}
}

func TestNotifications(t *testing.T) {
	run(t, append(refusals("notifications.list", "GET", "/api/notifications"),
		scenario{name: "a limit that is no number", op: "notifications.list", method: "GET", path: "/api/notifications?limit=x", status: 422},
		scenario{name: "none yet", op: "notifications.list", method: "GET", path: "/api/notifications", status: 200, has: []string{`"notifications":[]`, `"unread":0`}},
		scenario{name: "one unread", op: "notifications.list", method: "GET", path: "/api/notifications?limit=5&unread_only=true", before: aNote, status: 200, has: []string{`"id":"{id}"`, `"kind":"info"`, `"unread":1`}},
	))
	run(t, append(refusals("notifications.create", "POST", "/api/notifications"),
		scenario{name: "without a message", op: "notifications.create", method: "POST", path: "/api/notifications", body: `{"title":"x"}`, status: 400},
		scenario{name: "always a plain note", op: "notifications.create", method: "POST", path: "/api/notifications", body: `{"message":"Hi","kind":"approval"}`, status: 200, has: []string{`"kind":"info"`}, events: map[string]int{"notification.new": 1}},
	))
	run(t, append(refusals("notifications.read", "POST", "/api/notifications/x/read"),
		scenario{name: "unknown", op: "notifications.read", method: "POST", path: "/api/notifications/nobody/read", status: 404},
		scenario{name: "read", op: "notifications.read", method: "POST", path: "/api/notifications/{id}/read", before: aNote, status: 200, events: map[string]int{"notification.read": 1}},
	))
	run(t, append(refusals("notifications.read_all", "POST", "/api/notifications/read-all"),
		scenario{name: "all", op: "notifications.read_all", method: "POST", path: "/api/notifications/read-all", before: aNote, status: 200, events: map[string]int{"notification.read": 1}},
	))
	run(t, append(refusals("notifications.delete", "DELETE", "/api/notifications/x"),
		scenario{name: "unknown", op: "notifications.delete", method: "DELETE", path: "/api/notifications/nobody", status: 404},
		scenario{name: "deleted", op: "notifications.delete", method: "DELETE", path: "/api/notifications/{id}", before: aNote, status: 200, events: map[string]int{"notification.deleted": 1}},
	))
	run(t, append(refusals("notifications.delete_all", "DELETE", "/api/notifications"),
		scenario{name: "all", op: "notifications.delete_all", method: "DELETE", path: "/api/notifications", before: aNote, status: 200, events: map[string]int{"notification.deleted": 1}},
	))
}
