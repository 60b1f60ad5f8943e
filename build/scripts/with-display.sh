#!/bin/sh
# Runs a command on a virtual display (SENTIENT_SCREEN, 1280x900 without it) with a window manager, a D-Bus session and
# a home folder of its own, and takes all of it away afterwards.
set -eu
work=$(mktemp -d)
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) GOPATH=$(go env GOPATH)
HOME=$work/home XDG_RUNTIME_DIR=$work/run
SENTIENT_PICTURES=${SENTIENT_PICTURES:-$work}
export GOCACHE GOMODCACHE GOPATH HOME XDG_RUNTIME_DIR SENTIENT_PICTURES
unset WAYLAND_DISPLAY XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME SENTIENT_HOME
mkdir -p "$HOME" "$XDG_RUNTIME_DIR" "$SENTIENT_PICTURES"
chmod 700 "$XDG_RUNTIME_DIR"
status=0
# What the session's services say goes to standard error; standard output is the command's alone.
exec 9>&1
dbus-run-session -- sh -eu -c '
    # -displayfd picks a free display and says which.
    fifo=$XDG_RUNTIME_DIR/display
    mkfifo "$fifo"
    Xvfb -displayfd 3 -screen 0 "${SENTIENT_SCREEN:-1280x900}x24" -nolisten tcp 3>"$fifo" 9>&- >/dev/null 2>&1 &
    x=$!
    read -r number <"$fifo"
    DISPLAY=:$number
    export DISPLAY
    openbox >/dev/null 2>&1 9>&- &
    status=0
    "$@" >&9 9>&- || status=$?
    kill "$x"
    exit "$status"
' with-display "$@" >&2 || status=$?
rm -rf "$work"
exit "$status"
