package api

import (
	"context"

	"sentient/backend/agent"
)

func chatOps(s Services) []Op {
	return []Op{
		unary("sessions.list", "GET /api/sessions", Window, "The chats, newest first", s.Sessions.List),
		unary("sessions.create", "POST /api/sessions", Window, "Make a new chat", s.Sessions.Create),
		unary("sessions.search", "GET /api/sessions/search", Window, "Search in the messages of all chats", s.Sessions.Search),
		unary("sessions.update", "PATCH /api/sessions/{id}", Window, "Rename a chat, pick its model or its memories", s.Sessions.Update),
		unary("sessions.delete", "DELETE /api/sessions/{id}", Window, "Delete a chat", s.Sessions.Delete),
		unary("sessions.messages", "GET /api/sessions/{id}/messages", Window, "The messages of a chat, oldest first", s.Sessions.Messages),
		unary("sessions.live", "GET /api/sessions/{id}/live", Window, "The reply that is being written right now", s.Agent.Live),
		unary("sessions.branch", "PATCH /api/sessions/{id}/branch", Window, "Show another branch of a chat", s.Sessions.Show),
		unary("sessions.fork", "POST /api/sessions/{id}/fork", Window, "Make a new chat of an old one, down to a message", s.Sessions.Fork),
		unary("sessions.regenerate", "POST /api/sessions/{id}/regenerate", Window, "Answer a message anew, beside the first answer", s.Agent.Regenerate),
		unary("sessions.resume", "POST /api/sessions/{id}/resume", Window, "Carry on a reply that was cut off", s.Agent.Resume),
		unary("sessions.subagents", "GET /api/sessions/{id}/subagents", Window, "The helpers of a chat, newest first", s.Agent.Subagents),
		unary("subagents.get", "GET /api/subagents/{id}", Window, "A helper and what it did", s.Agent.Subagent),
		unary("subagents.cancel", "POST /api/subagents/{id}/cancel", Window, "Stop a helper", s.Agent.CancelSubagent),
		unary("tools.list", "GET /api/tools", Window, "The tools that there are, by app", s.Tools.List),
		unary("openai.key", "POST /api/openai-api/key", Window, "Make a new key for other apps, which replaces the old one", s.OpenAI.Make),
		stream("chat.run", "POST /api/chat", Window, "Send a message and read its reply as lines", s.Agent.Chat),
		upload("files.upload", "POST /api/files", Window, "Keep a file for attaching it to messages", s.Sessions.Upload),
		unary("files.list", "GET /api/files", Window, "The files that are kept", s.Sessions.Files),
		download("files.content", "GET /api/files/content/{name...}", Window, "One file's bytes", s.Sessions.Content),
		unary("files.delete", "DELETE /api/files/{name...}", Window, "Delete a file", s.Sessions.DeleteFile),
		row[LiveInput](Live, "live.connect", "WS /ws", Window, "The live connection: events down, messages up"),
		message("chat.send", "Send a message; without session_id, in a new chat", s.sendMessage),
		message("chat.steer", "Add to the reply in progress; without one, the same as chat.send", s.steerReply),
		message("chat.cancel", "Stop the reply in progress", s.cancelReply),
		message("presence", "Say whether the window is in front", setPresence),
		message("ping", "Keep the connection alive", func(context.Context, *Conn, *Nothing) error { return nil }),
	}
}

// sendMessage starts a turn. What it tells comes as events to every live connection; a refusal goes to the sender alone.
func (s Services) sendMessage(ctx context.Context, _ *Conn, in *agent.SendInput) error {
	_, err := s.Agent.Send(ctx, in)
	return err
}

func (s Services) steerReply(ctx context.Context, _ *Conn, in *agent.SteerInput) error {
	_, err := s.Agent.Steer(ctx, in)
	return err
}

func (s Services) cancelReply(ctx context.Context, _ *Conn, in *agent.CancelInput) error {
	_, err := s.Agent.Cancel(ctx, in)
	return err
}

// PresenceInput is what a window says about itself on every focus, blur and change of visibility.
type PresenceInput struct {
	Active bool `json:"active" doc:"the window is focused and visible"`
}

func setPresence(_ context.Context, c *Conn, in *PresenceInput) error {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.hub.active[c] = in.Active
	return nil
}
