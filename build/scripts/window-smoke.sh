#!/bin/sh
# Opens the real window and tray on a virtual display with a D-Bus session of its own, and drives them. Pictures of what
# was seen stand in SENTIENT_PICTURES where that names a folder. Arguments go to go test (-run NAME).
set -eu
cd "$(dirname "$0")/../.."
missing=""
for p in Xvfb openbox dbus-run-session xdotool import; do
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
export SENTIENT_BUILD
exec build/scripts/with-display.sh sh -eu -c '
    status=0
    go test -tags windowsmoke -count=1 -timeout 10m -v "$@" ./build/windowtest/ || status=$?
    # What a page in the window may load and where it may go, with a hostile page of the test in it.
    go test -tags desktop,production,webkit2_41,windowsmoke -count=1 -timeout 10m -v "$@" -run "^TestHostilePage$" ./app/desktop/ || status=$?
    exit "$status"
' window-smoke "$@"
