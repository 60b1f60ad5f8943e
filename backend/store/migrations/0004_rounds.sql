-- What was said into a running reply (§10 "Steering"), until a model reads it. A projection of chat_events.
CREATE TABLE steers (
  id         TEXT PRIMARY KEY,                 -- the id of the message that it becomes
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  turn_id    TEXT NOT NULL,                    -- the reply it was said into
  client_id  TEXT,
  text       TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('waiting', 'read', 'moved')),  -- moved: it became a turn of its own
  at         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX steers_client ON steers (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX steers_waiting ON steers (turn_id) WHERE state = 'waiting';
CREATE INDEX steers_session ON steers (session_id);

-- A summary of a chat's older part, for the model: of the path up to and including the turn. No projection: a model
-- makes it again where it is lost.
CREATE TABLE chat_summaries (
  turn_id    TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  text       TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Turns after one, for the branches of a chat.
CREATE INDEX turns_parent ON turns (session_id, parent_id);
