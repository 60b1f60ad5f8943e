package api

func notificationOps(s Services) []Op {
	return []Op{
		unary("notifications.list", "GET /api/notifications", Window, "The notifications, newest first", s.Notifications.List),
		unary("notifications.create", "POST /api/notifications", Window, "Leave a plain note", s.Notifications.Create),
		unary("notifications.read", "POST /api/notifications/{id}/read", Window, "Mark a notification as read", s.Notifications.Read),
		unary("notifications.read_all", "POST /api/notifications/read-all", Window, "Mark all notifications as read", s.Notifications.ReadAll),
		unary("notifications.delete", "DELETE /api/notifications/{id}", Window, "Delete a notification", s.Notifications.Delete),
		unary("notifications.delete_all", "DELETE /api/notifications", Window, "Delete all notifications", s.Notifications.DeleteAll),
	}
}
