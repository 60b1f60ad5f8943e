//go:build desktop

#include <gtk/gtk.h>
#include <string.h>
#include <webkit2/webkit2.h>
#ifdef GDK_WINDOWING_X11
#include <gdk/gdkx.h>
#endif
#include "native_linux.h"
#include "_cgo_export.h"

#define OWN_PAGE "wails://wails/"

int sentient_display(void) {
	g_set_prgname("sentient"); // the window's class, and WebKit's folders; the library sets it too late for both
	g_set_application_name("Sentient");
	return gtk_init_check(NULL, NULL);
}

int sentient_dark(void) {
	GtkSettings *settings = gtk_settings_get_default();
	if (settings == NULL) return 0;
	gboolean prefers = FALSE;
	gchar *name = NULL;
	g_object_get(settings, "gtk-application-prefer-dark-theme", &prefers, "gtk-theme-name", &name, NULL);
	const gchar *forced = g_getenv("GTK_THEME");
	const gchar *used = forced != NULL && *forced != 0 ? forced : name;
	gchar *lower = used == NULL ? NULL : g_ascii_strdown(used, -1);
	int dark = prefers || (lower != NULL && strstr(lower, "dark") != NULL);
	g_free(lower);
	g_free(name);
	return dark;
}

void sentient_alert(const char *title, const char *text) {
	GtkWidget *dialog = gtk_message_dialog_new(NULL, 0, GTK_MESSAGE_WARNING, GTK_BUTTONS_CLOSE, "%s", text);
	gtk_window_set_title(GTK_WINDOW(dialog), title);
	gtk_dialog_run(GTK_DIALOG(dialog));
	gtk_widget_destroy(dialog);
}

// find_view gives the web view inside a widget, or NULL.
static GtkWidget *find_view(GtkWidget *widget) {
	if (WEBKIT_IS_WEB_VIEW(widget)) return widget;
	if (!GTK_IS_CONTAINER(widget)) return NULL;
	GtkWidget *found = NULL;
	GList *children = gtk_container_get_children(GTK_CONTAINER(widget));
	for (GList *c = children; c != NULL && found == NULL; c = c->next) found = find_view(GTK_WIDGET(c->data));
	g_list_free(children);
	return found;
}

// find_window gives the window that holds the page, and its view, or NULL.
static GtkWindow *find_window(GtkWidget **view) {
	GtkWindow *window = NULL;
	GList *all = gtk_window_list_toplevels();
	for (GList *w = all; w != NULL && window == NULL; w = w->next) {
		GtkWidget *v = GTK_IS_WINDOW(w->data) ? find_view(GTK_WIDGET(w->data)) : NULL;
		if (v == NULL) continue;
		window = GTK_WINDOW(w->data);
		if (view != NULL) *view = v;
	}
	g_list_free(all);
	return window;
}

// place moves the window to where it was, as far as a screen is there now.
static void place(GtkWindow *window, sentient_place p) {
	if (!p.placed) return;
	int width, height;
	gtk_window_get_size(window, &width, &height);
	GdkMonitor *monitor = gdk_display_get_monitor_at_point(gtk_widget_get_display(GTK_WIDGET(window)), p.x + width / 2, p.y + height / 2);
	if (monitor == NULL) return;
	GdkRectangle free;
	gdk_monitor_get_workarea(monitor, &free);
	int w = MIN(width, free.width), h = MIN(height, free.height);
	if (w != width || h != height) gtk_window_resize(window, w, h);
	gtk_window_move(window, CLAMP(p.x, free.x, free.x + free.width - w), CLAMP(p.y, free.y, free.y + free.height - h));
}

// decide_policy keeps the page where it is: whatever is loaded in its place could call the engine as it does.
static gboolean decide_policy(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type, gpointer handle) {
	if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return FALSE;
	WebKitNavigationAction *action = webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
	const gchar *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
	if (type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION &&
	    (g_str_has_prefix(uri, OWN_PAGE) || strcmp(uri, "about:blank") == 0 || strcmp(uri, "about:srcdoc") == 0)) {
		return FALSE;
	}
	webkit_policy_decision_ignore(decision);
	sentientKeptHere((uintptr_t)handle, (char *)uri);
	return TRUE;
}

static void load_changed(WebKitWebView *view, WebKitLoadEvent event, gpointer handle) {
	if (event == WEBKIT_LOAD_COMMITTED) sentientNewPage((uintptr_t)handle);
}

static gboolean load_again(gpointer view) {
	webkit_web_view_load_uri(WEBKIT_WEB_VIEW(view), OWN_PAGE);
	g_object_unref(view);
	return G_SOURCE_REMOVE;
}

// page_crashed shows the page again after its process ended; the window would stay empty.
static void page_crashed(WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer handle) {
	sentientPageCrashed((uintptr_t)handle, reason);
	g_timeout_add_seconds(1, load_again, g_object_ref(view));
}

// context_menu leaves what belongs to text; the rest would leave or reload the page.
static gboolean context_menu(WebKitWebView *view, WebKitContextMenu *menu, GdkEvent *event, WebKitHitTestResult *hit, gpointer handle) {
	GList *items = g_list_copy(webkit_context_menu_get_items(menu));
	int kept = 0;
	for (GList *i = items; i != NULL; i = i->next) {
		WebKitContextMenuItem *item = WEBKIT_CONTEXT_MENU_ITEM(i->data);
		switch (webkit_context_menu_item_get_stock_action(item)) {
		case WEBKIT_CONTEXT_MENU_ACTION_COPY:
		case WEBKIT_CONTEXT_MENU_ACTION_CUT:
		case WEBKIT_CONTEXT_MENU_ACTION_PASTE:
		case WEBKIT_CONTEXT_MENU_ACTION_PASTE_AS_PLAIN_TEXT:
		case WEBKIT_CONTEXT_MENU_ACTION_DELETE:
		case WEBKIT_CONTEXT_MENU_ACTION_SELECT_ALL:
		case WEBKIT_CONTEXT_MENU_ACTION_COPY_LINK_TO_CLIPBOARD:
		case WEBKIT_CONTEXT_MENU_ACTION_COPY_IMAGE_TO_CLIPBOARD:
		case WEBKIT_CONTEXT_MENU_ACTION_INPUT_METHODS:
		case WEBKIT_CONTEXT_MENU_ACTION_INSERT_EMOJI:
		case WEBKIT_CONTEXT_MENU_ACTION_SPELLING_GUESS:
		case WEBKIT_CONTEXT_MENU_ACTION_NO_GUESSES_FOUND:
		case WEBKIT_CONTEXT_MENU_ACTION_LEARN_SPELLING:
		case WEBKIT_CONTEXT_MENU_ACTION_IGNORE_SPELLING:
			kept++;
			break;
		case WEBKIT_CONTEXT_MENU_ACTION_NO_ACTION: // separators
			break;
		default:
			webkit_context_menu_remove(menu, item);
		}
	}
	g_list_free(items);
	return kept == 0;
}

typedef struct {
	uintptr_t handle;
	sentient_place place;
	int again;
} settling;

static gboolean settle(gpointer data) {
	settling *s = data;
	if (s->again-- > 0) return G_SOURCE_CONTINUE; // the window library centres the window first
	GtkWidget *view = NULL;
	GtkWindow *window = find_window(&view);
	if (window != NULL) {
		gpointer handle = (gpointer)s->handle;
		g_signal_connect(view, "decide-policy", G_CALLBACK(decide_policy), handle);
		g_signal_connect(view, "load-changed", G_CALLBACK(load_changed), handle);
		g_signal_connect(view, "web-process-terminated", G_CALLBACK(page_crashed), handle);
		g_signal_connect(view, "context-menu", G_CALLBACK(context_menu), handle);
		GdkGeometry size = {.min_width = s->place.min_width, .min_height = s->place.min_height};
		gtk_window_set_geometry_hints(window, NULL, &size, GDK_HINT_MIN_SIZE);
		place(window, s->place);
	}
	sentientSettled(s->handle, window != NULL);
	g_free(s);
	return G_SOURCE_REMOVE;
}

void sentient_settle_later(uintptr_t handle, sentient_place p) {
	settling *s = g_new0(settling, 1);
	s->handle = handle;
	s->place = p;
	s->again = 1;
	g_idle_add(settle, s);
}

static gboolean front(gpointer data) {
	sentient_place *p = data;
	GtkWindow *window = find_window(NULL);
	if (window != NULL) {
		gboolean hidden = !gtk_widget_get_visible(GTK_WIDGET(window));
		gtk_widget_show(GTK_WIDGET(window));
		if (hidden) place(window, *p);
		gtk_window_deiconify(window);
		guint32 when = GDK_CURRENT_TIME;
#ifdef GDK_WINDOWING_X11
		GdkWindow *native = gtk_widget_get_window(GTK_WIDGET(window));
		if (native != NULL && GDK_IS_X11_WINDOW(native)) when = gdk_x11_get_server_time(native);
#endif
		gtk_window_present_with_time(window, when);
	}
	g_free(p);
	return G_SOURCE_REMOVE;
}

void sentient_front_later(sentient_place p) {
	sentient_place *copy = g_new0(sentient_place, 1);
	*copy = p;
	g_idle_add(front, copy);
}

static gboolean quit(gpointer data) {
	gtk_main_quit();
	return G_SOURCE_REMOVE;
}

void sentient_quit_later(void) { g_idle_add(quit, NULL); }
