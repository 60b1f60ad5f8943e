package v1

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"sentient/backend/store"
	"sentient/backend/transcript"
)

// namesEntry is the entry of the meta table that holds which chat each name has (§2): a JSON object, name → id.
const namesEntry = "openai_api.sessions"

// ChatTable makes and finds chats inside a transaction.
type ChatTable interface {
	// AddChat makes an empty chat.
	AddChat(tx *store.Tx, id, channel, title string) error
	// Exists tells whether a chat is there.
	Exists(tx *store.Tx, id string) (bool, error)
}

// ChatNames knows the chats of other apps by name.
type ChatNames struct {
	DB    *store.DB
	Chats ChatTable
	Log   *slog.Logger
}

// Named gives the chat of a name and makes it where there is none, or where it was deleted. Names are looked up and
// given in the one writer's transaction, so that first requests at once share one chat and none loses its own.
func (n *ChatNames) Named(ctx context.Context, name string) (id string, err error) {
	err = n.DB.Write(ctx, func(tx *store.Tx) error {
		id, err = n.named(ctx, tx, name)
		return err
	})
	return id, err
}

func (n *ChatNames) named(ctx context.Context, tx *store.Tx, name string) (string, error) {
	ids, err := n.read(ctx, tx)
	if err != nil {
		return "", err
	}
	if id := ids[name]; id != "" {
		there, err := n.Chats.Exists(tx, id)
		if there || err != nil {
			return id, err
		}
	}
	id := transcript.NewID()
	if err := n.Chats.AddChat(tx, id, channel, name); err != nil {
		return "", err
	}
	ids[name] = id
	raw, err := json.Marshal(ids)
	if err != nil {
		return "", fmt.Errorf("encode chat names: %w", err)
	}
	return id, n.DB.SetMeta(ctx, tx, namesEntry, string(raw))
}

// read gives the names. An entry that can't be read counts as empty: its chats are still in the list of chats, and
// other apps get new ones.
func (n *ChatNames) read(ctx context.Context, tx *store.Tx) (map[string]string, error) {
	ids := map[string]string{}
	var raw string
	err := tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", namesEntry).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return ids, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read chat names: %w", err)
	}
	if err := json.Unmarshal([]byte(raw), &ids); err != nil || ids == nil {
		n.Log.WarnContext(ctx, "names of other apps' chats can't be read; they get new chats", "error", err)
		return map[string]string{}, nil
	}
	return ids, nil
}
