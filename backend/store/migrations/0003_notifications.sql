CREATE TABLE notifications (
  n          INTEGER PRIMARY KEY,              -- newest is highest
  id         TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL,
  title      TEXT NOT NULL,
  message    TEXT NOT NULL,
  payload    TEXT NOT NULL DEFAULT '{}',       -- JSON object
  task_id    TEXT,
  read       INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX notifications_unread ON notifications (n) WHERE read = 0;
