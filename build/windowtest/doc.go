// Package windowtest drives the real window and tray of the built program on a virtual display, with a private D-Bus
// session and a stand-in for the desktop's tray. build/scripts/window-smoke.sh starts display and session and runs it.
package windowtest
