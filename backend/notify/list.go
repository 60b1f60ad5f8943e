package notify

import (
	"context"

	"sentient/backend/event"
	"sentient/backend/store"
)

// ListInput bounds a list of notifications.
type ListInput struct {
	Limit      int  `json:"limit,omitempty" in:"query" default:"50" minimum:"1" maximum:"500"`
	UnreadOnly bool `json:"unread_only,omitempty" in:"query"`
}

// ListResult is the newest notifications first, and how many of all are unread.
type ListResult struct {
	Notifications []Notification `json:"notifications"`
	Unread        int            `json:"unread"`
}

// List gives the newest notifications (GET /api/notifications).
func (s *Service) List(ctx context.Context, in *ListInput) (*ListResult, error) {
	limit := in.Limit
	if limit <= 0 {
		limit = 50
	}
	out := &ListResult{Notifications: []Notification{}}
	query := `SELECT ` + columns + ` FROM notifications ORDER BY n DESC LIMIT ?`
	if in.UnreadOnly {
		query = `SELECT ` + columns + ` FROM notifications WHERE read = 0 ORDER BY n DESC LIMIT ?`
	}
	rows, err := s.DB.Reader().QueryContext(ctx, query, min(limit, 500))
	if err != nil {
		return nil, wrap("list notifications", err)
	}
	defer rows.Close()
	for rows.Next() {
		n, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out.Notifications = append(out.Notifications, n)
	}
	if err := rows.Err(); err != nil {
		return nil, wrap("list notifications", err)
	}
	out.Unread, err = s.Unread(ctx)
	return out, err
}

// Unread counts the unread notifications (GET /api/bootstrap).
func (s *Service) Unread(ctx context.Context) (int, error) {
	var n int
	err := s.DB.Reader().QueryRowContext(ctx, `SELECT count(*) FROM notifications WHERE read = 0`).Scan(&n)
	return n, wrap("count notifications", err)
}

// IDInput names a notification.
type IDInput struct {
	ID string `json:"id" in:"path"`
}

// AllInput has no members.
type AllInput struct{}

// OKResult says that it was done.
type OKResult struct {
	OK bool `json:"ok"`
}

// Read marks a notification as read (POST /api/notifications/{id}/read). 404 for an unknown one.
func (s *Service) Read(ctx context.Context, in *IDInput) (*OKResult, error) {
	return s.change(ctx, TopicRead, &in.ID, `UPDATE notifications SET read = 1 WHERE id = ?`, in.ID)
}

// ReadAll marks all as read (POST /api/notifications/read-all).
func (s *Service) ReadAll(ctx context.Context, _ *AllInput) (*OKResult, error) {
	return s.change(ctx, TopicRead, nil, `UPDATE notifications SET read = 1 WHERE read = 0`)
}

// Delete deletes a notification (DELETE /api/notifications/{id}). 404 for an unknown one.
func (s *Service) Delete(ctx context.Context, in *IDInput) (*OKResult, error) {
	return s.change(ctx, TopicDeleted, &in.ID, `DELETE FROM notifications WHERE id = ?`, in.ID)
}

// DeleteAll deletes all (DELETE /api/notifications).
func (s *Service) DeleteAll(ctx context.Context, _ *AllInput) (*OKResult, error) {
	return s.change(ctx, TopicDeleted, nil, `DELETE FROM notifications`)
}

// change runs a statement on one notification (404 when it is not there) or, with a nil id, on all, and tells it.
func (s *Service) change(ctx context.Context, topic event.Topic[Which], id *string, statement string, args ...any) (*OKResult, error) {
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec(statement, args...)
		if err != nil {
			return wrap("change notifications", err)
		}
		if n, err := res.RowsAffected(); err != nil || (n == 0 && id != nil) {
			if err == nil {
				err = errUnknown()
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	which := Which{}
	if id != nil {
		name := *id // the caller's own may change before everybody has read the event
		which.ID = &name
	}
	event.Publish(s.Bus, topic, which)
	return &OKResult{true}, nil
}
