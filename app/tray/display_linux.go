//go:build tray

package tray

/*
#cgo pkg-config: gtk+-3.0 x11

#include <stdio.h>
#include <gtk/gtk.h>
#include <X11/Xlib.h>

static int open_display(void) {
	g_set_prgname("sentient-tray");
	g_set_application_name("Sentient");
	return gtk_init_check(NULL, NULL);
}

// An old tray announces itself as the owner of a selection named after its screen.
static int old_tray(void) {
	Display *display = XOpenDisplay(NULL);
	if (display == NULL) return 0;
	char name[40];
	snprintf(name, sizeof name, "_NET_SYSTEM_TRAY_S%d", DefaultScreen(display));
	int there = XGetSelectionOwner(display, XInternAtom(display, name, False)) != None;
	XCloseDisplay(display);
	return there;
}
*/
import "C"

import "errors"

// openDisplay looks whether there is a display at all: the tray library ends the process where there is none.
func openDisplay() error {
	if C.open_display() == 0 {
		return errors.New("there is no display")
	}
	return nil
}

// oldTray tells whether a tray of the kind before StatusNotifierItem stands on the X display (XEmbed: i3bar, tint2 and
// others). The indicator library draws into it where there is no other.
func oldTray() bool { return C.old_tray() != 0 }
