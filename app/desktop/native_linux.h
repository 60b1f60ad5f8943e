#ifndef SENTIENT_NATIVE
#define SENTIENT_NATIVE

#include <stdint.h>

// What Sentient needs of GTK and WebKit beyond the window library. The functions named …_later may be called from any
// thread: they do their work on the window's own.

typedef struct {
	int x, y;                  // top left corner, where placed is not 0
	int placed;
	int min_width, min_height;
} sentient_place;

int sentient_display(void);              // opens the display; 0 when there is none
int sentient_dark(void);                 // the system's theme is a dark one
void sentient_alert(const char *title, const char *text); // shows a sentence and waits; before the window only
void sentient_settle_later(uintptr_t handle, sentient_place place);
void sentient_front_later(sentient_place place);
void sentient_quit_later(void);

#endif
