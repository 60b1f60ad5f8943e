-- What the gate keeps: standing yeses, proposed rules, where files came from, copies of files before a call changed them.

-- The name of what a tool result was read from, where someone else wrote it ("Gmail"); '' otherwise.
ALTER TABLE messages ADD COLUMN outside TEXT NOT NULL DEFAULT '';

-- "Allow for this task" and "Allow for 1 hour" (§2 "Scoped answers").
CREATE TABLE approval_grants (
  id         TEXT PRIMARY KEY,
  tool       TEXT NOT NULL,
  label      TEXT NOT NULL,
  app        TEXT NOT NULL,
  scope      TEXT NOT NULL CHECK (scope IN ('task', 'timed')),
  task_id    TEXT,
  task_name  TEXT,
  risk       TEXT NOT NULL CHECK (risk IN ('read', 'write', 'send', 'exec')),
  via        TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_grants_tool ON approval_grants (tool);

-- "Make this a rule?" (§2 "Rules from chat"). It goes with its chat.
CREATE TABLE rule_proposals (
  id         TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  said       TEXT NOT NULL,
  rule       TEXT NOT NULL CHECK (rule IN ('never', 'ask', 'if_asked', 'hand_off')),
  keys       TEXT NOT NULL,                    -- JSON array
  targets    TEXT NOT NULL,                    -- JSON array
  status     TEXT NOT NULL CHECK (status IN ('pending', 'accepted', 'declined')),
  created_at TEXT NOT NULL,
  decided_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_proposals_session ON rule_proposals (session_id, status);

-- Files that a run wrote after it had read what someone else wrote: reading one later is reading that again.
CREATE TABLE file_sources (
  name   TEXT PRIMARY KEY COLLATE NOCASE,      -- under files/
  source TEXT NOT NULL,
  at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Copies of files before a call changed them (§10 "File snapshots"), under snapshots/<id>/.
CREATE TABLE file_snapshots (
  id           TEXT PRIMARY KEY,
  source       TEXT NOT NULL CHECK (source IN ('files', 'terminal', 'code', 'restore')),
  what         TEXT NOT NULL,
  session_id   TEXT NOT NULL DEFAULT '',       -- stays when the chat goes: the files are still the person's
  turn_id      TEXT NOT NULL DEFAULT '',
  call_id      TEXT NOT NULL DEFAULT '',
  task_id      TEXT,
  state        TEXT NOT NULL CHECK (state IN ('open', 'kept', 'none')),  -- open: its call has not ended; none: no copies
  files        TEXT NOT NULL DEFAULT '[]',     -- JSON: {path, change, bytes, copy, note}
  created      TEXT NOT NULL DEFAULT '[]',     -- JSON array of paths that the call made
  notes        TEXT NOT NULL DEFAULT '[]',     -- JSON array of sentences
  bytes        INTEGER NOT NULL DEFAULT 0,     -- of the copies
  created_at   TEXT NOT NULL,
  restoring_at TEXT,
  restored_at  TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX file_snapshots_at ON file_snapshots (created_at);
