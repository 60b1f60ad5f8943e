-- Chats: the log of each chat, and what is filled from it.
--
-- chat_events is the truth. turns, messages and message_files are projections of it (backend/transcript) and can be
-- made again from it; message_text follows messages by triggers.

CREATE TABLE sessions (
  id            TEXT PRIMARY KEY,
  title         TEXT NOT NULL DEFAULT '',
  title_by      TEXT NOT NULL DEFAULT '' CHECK (title_by IN ('', 'words', 'model', 'user')),
  channel       TEXT NOT NULL DEFAULT 'desktop',
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  untrusted     TEXT,                          -- NULL before the first turn, '' when clean, else what it read
  visited_hosts TEXT,                          -- JSON array
  incognito     INTEGER NOT NULL DEFAULT 0,
  model         TEXT,                          -- NULL: the default
  memory_scope  TEXT,                          -- NULL: its messaging app's, else personal
  node_id       TEXT,
  forked_from   TEXT,
  leaf_turn     TEXT                           -- the newest turn of the path that is shown
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_recent ON sessions (updated_at DESC, id DESC);
CREATE INDEX sessions_incognito ON sessions (updated_at) WHERE incognito = 1;

CREATE TABLE chat_events (
  n          INTEGER PRIMARY KEY,              -- the order over all chats
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,                 -- the order in its chat, from 1
  id         TEXT NOT NULL,
  turn_id    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  payload    TEXT NOT NULL,                    -- JSON
  at         TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX chat_events_order ON chat_events (session_id, seq);

CREATE TABLE turns (
  id         TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  parent_id  TEXT,                             -- the turn before it; siblings share one
  client_id  TEXT,
  state      TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'stopped', 'failed', 'unsent')),
  created_at TEXT NOT NULL,
  ended_at   TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_client ON turns (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX turns_session ON turns (session_id);
CREATE INDEX turns_open ON turns (session_id, state) WHERE state IN ('queued', 'running');

CREATE TABLE messages (
  n              INTEGER PRIMARY KEY,          -- chat_events.n of the event that made it
  id             TEXT NOT NULL UNIQUE,
  session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  turn_id        TEXT NOT NULL,
  role           TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'other', 'event')),
  content        TEXT NOT NULL,
  thinking       TEXT,
  tool_calls     TEXT NOT NULL DEFAULT '[]',   -- JSON, as are the four lists below
  tool_call_id   TEXT,
  name           TEXT,
  attachments    TEXT NOT NULL DEFAULT '[]',
  interjection   INTEGER NOT NULL DEFAULT 0,
  memory_sources TEXT NOT NULL DEFAULT '[]',
  sources        TEXT NOT NULL DEFAULT '[]',
  approval       TEXT,                         -- JSON
  checks         TEXT NOT NULL DEFAULT '[]',
  cancelled      INTEGER NOT NULL DEFAULT 0,   -- a reply that was cut off
  searchable     INTEGER NOT NULL DEFAULT 0,   -- in message_text; never for incognito chats
  created_at     TEXT NOT NULL
) STRICT;
CREATE INDEX messages_turn ON messages (turn_id, n);
CREATE INDEX messages_session ON messages (session_id);

-- Which messages have a file attached: a name never points at a different file later (#458), and screens/ and
-- selections/ go with their chat (#332).
CREATE TABLE message_files (
  name       TEXT NOT NULL COLLATE NOCASE,
  message_n  INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  PRIMARY KEY (name, message_n)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_files_message ON message_files (message_n);
CREATE INDEX message_files_session ON message_files (session_id);

-- The text of replies that are still being written, in pieces. Empty while nothing is.
CREATE TABLE open_replies (
  turn_id    TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
  n          INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  text       TEXT NOT NULL,
  thinking   TEXT NOT NULL,
  PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE message_text USING fts5 (
  content, content='messages', content_rowid='n', prefix='2 3',
  tokenize='porter unicode61 remove_diacritics 2'
);
-- What was deleted must not stay readable in the index's old segments.
INSERT INTO message_text (message_text, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER messages_indexed AFTER INSERT ON messages WHEN new.searchable BEGIN
  INSERT INTO message_text (rowid, content) VALUES (new.n, new.content);
END;
CREATE TRIGGER messages_unindexed AFTER DELETE ON messages WHEN old.searchable BEGIN
  INSERT INTO message_text (message_text, rowid, content) VALUES ('delete', old.n, old.content);
END;
CREATE TRIGGER messages_reindexed AFTER UPDATE OF content, searchable ON messages BEGIN
  INSERT INTO message_text (message_text, rowid, content) SELECT 'delete', old.n, old.content WHERE old.searchable;
  INSERT INTO message_text (rowid, content) SELECT new.n, new.content WHERE new.searchable;
END;
