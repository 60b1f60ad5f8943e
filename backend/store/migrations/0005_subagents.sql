-- Helpers that chats started (§10 "Subagents"): what they were for, what they did, what they found.
CREATE TABLE subagents (
  id             TEXT PRIMARY KEY,
  session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  parent_call_id TEXT NOT NULL,
  goal           TEXT NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('worker', 'reader')),
  status         TEXT NOT NULL CHECK (status IN ('running', 'completed', 'error', 'cancelled')),
  background     INTEGER NOT NULL DEFAULT 0,
  summary        TEXT,
  error          TEXT,
  tool_calls     INTEGER NOT NULL DEFAULT 0,
  events         TEXT NOT NULL DEFAULT '[]',   -- JSON
  started_at     TEXT NOT NULL,
  finished_at    TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX subagents_session ON subagents (session_id, id);
CREATE INDEX subagents_running ON subagents (id) WHERE status = 'running';
