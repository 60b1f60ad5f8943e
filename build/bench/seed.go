package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sentient/backend/clock"
	"sentient/backend/obs"
	"sentient/backend/store"
)

const (
	chats     = 5000
	largeChat = "01900000-0000-7000-8000-000000000000" // the first chat; it is long
	longChat  = 5000                                   // messages of the first chat
)

var words = strings.Fields(`the harbour light was off when Maya asked about the invoice from Pune and the tickets for Saturday morning
train bread river window small quiet garden letter answer question meeting notes summer winter doctor school music number colour`)

// seed makes a data folder with a database of many messages, once a run.
func (b *bench) seed(ctx context.Context) error {
	if b.large != "" {
		return nil
	}
	home := filepath.Join(b.dir, "large")
	if _, err := os.Stat(filepath.Join(home, "seeded")); err == nil {
		b.large = home
		return nil
	}
	db, err := store.Open(ctx, store.Options{Dir: home, Clock: clock.Real{}, Log: obs.Discard(), Version: "bench"})
	if err != nil {
		return err
	}
	start := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	n := 0
	for from := 0; from < b.messages; from += 20000 {
		err := db.Write(ctx, func(tx *store.Tx) error {
			for ; n < min(from+20000, b.messages); n++ {
				if err := seedMessage(tx, n, start.Add(time.Duration(n)*10*time.Second)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("seed messages: %w", err)
		}
	}
	if err := db.Write(ctx, seedNotifications); err != nil {
		return fmt.Errorf("seed notifications: %w", err)
	}
	b.large = home
	return errors.Join(db.Close(), os.WriteFile(filepath.Join(home, "seeded"), nil, 0o600))
}

func seedMessage(tx *store.Tx, n int, at time.Time) error {
	chat := chatOf(n &^ 1) // a turn's two messages are in one chat
	session := fmt.Sprintf("01900000-0000-7000-8000-%012d", chat)
	stamp := clock.Stamp(at)
	if _, err := tx.Exec(`INSERT INTO sessions (id, title, created_at, updated_at) VALUES (?1, ?2, ?3, ?3) ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at`,
		session, "About "+words[chat%len(words)], stamp); err != nil {
		return err
	}
	turn := turnID(n)
	role := "user"
	if n%2 == 0 {
		if _, err := tx.Exec(`INSERT INTO turns (id, session_id, parent_id, state, created_at, ended_at) VALUES (?1, ?2, ?3, 'done', ?4, ?4)`, turn, session, parent(n), stamp); err != nil {
			return err
		}
	} else {
		role = "assistant"
	}
	if _, err := tx.Exec(`UPDATE sessions SET leaf_turn = ?1 WHERE id = ?2`, turn, session); err != nil {
		return err
	}
	var text strings.Builder
	for i := range 12 {
		text.WriteString(words[(n*7+i*13+n/31)%len(words)])
		text.WriteByte(' ')
	}
	_, err := tx.Exec(`INSERT INTO messages (n, id, session_id, turn_id, role, content, searchable, created_at) VALUES (?, ?, ?, ?, ?, ?, 1, ?)`,
		n+1, fmt.Sprintf("01920000-0000-7000-8000-%012d", n), session, turn, role, text.String(), stamp)
	return err
}

func seedNotifications(tx *store.Tx) error {
	for n := range 5000 {
		if _, err := tx.Exec(`INSERT INTO notifications (id, kind, title, message, read, created_at) VALUES (?, 'info', 'A note', 'Something happened.', ?, '2026-01-01T08:00:00.000000Z')`,
			fmt.Sprintf("01930000-0000-7000-8000-%012d", n), n%2); err != nil {
			return err
		}
	}
	return nil
}

func turnID(n int) string { return fmt.Sprintf("01910000-0000-7000-8000-%012d", n/2) }

func chatOf(n int) int {
	if n < longChat {
		return 0
	}
	return 1 + (n-longChat)*(chats-1)/(1_000_000-longChat)
}

// parent is the turn before, where it is in the same chat.
func parent(n int) any {
	if n < 2 || chatOf(n-2) != chatOf(n) {
		return nil
	}
	return turnID(n - 2)
}
