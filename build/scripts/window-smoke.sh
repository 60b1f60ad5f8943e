#!/bin/sh
# Opens the real window and tray on a virtual display with a D-Bus session of its own, and drives them.
set -eu
cd "$(dirname "$0")/../.."
missing=""
for p in Xvfb openbox dbus-run-session xdotool import pgrep; do
    command -v "$p" >/dev/null || missing="$missing $p"
done
if [ -n "$missing" ]; then
    [ "${CI:-}" != true ] || { echo "missing:$missing" >&2; exit 1; }
    echo "{\"Action\":\"output\",\"Package\":\"window\",\"Test\":\"Window\",\"Output\":\"the window test needs$missing\"}"
    echo '{"Action":"skip","Package":"window","Test":"Window"}'
    exit 0
fi
for p in sentient sentient-desktop sentient-tray; do
    [ -x "build/bin/$p" ] || { echo "build/bin/$p is not there: run ./task build first." >&2; exit 1; }
done
SENTIENT_BUILD=$PWD/build/bin
SENTIENT_PICTURES=${SENTIENT_PICTURES:-$(mktemp -d)}
export SENTIENT_BUILD SENTIENT_PICTURES
# -displayfd picks a free display and says which.
exec dbus-run-session -- sh -eu -c '
    fifo=$(mktemp -u); mkfifo "$fifo"
    Xvfb -displayfd 3 -screen 0 1280x900x24 -nolisten tcp 3>"$fifo" >/dev/null 2>&1 &
    x=$!
    read -r number < "$fifo"; rm "$fifo"
    DISPLAY=:$number; export DISPLAY
    unset WAYLAND_DISPLAY
    openbox >/dev/null 2>&1 &
    status=0
    go test -tags windowsmoke -count=1 -timeout 10m -v "$@" ./build/windowtest/ || status=$?
    kill "$x"
    exit "$status"
' window-smoke "$@"
