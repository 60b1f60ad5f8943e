#!/bin/sh
# Takes a picture of the real window for the docs: pictures-window.sh OUT.png [dark|light].
set -eu
[ $# -ge 1 ] || { echo "usage: $0 OUT.png [dark|light]" >&2; exit 2; }
case $1 in /*) SENTIENT_PICTURE=$1 ;; *) SENTIENT_PICTURE=$PWD/$1 ;; esac
SENTIENT_THEME=${2:-dark}
cd "$(dirname "$0")/../.."
for p in Xvfb openbox dbus-run-session xdotool import; do
    command -v "$p" >/dev/null || { echo "$p is missing" >&2; exit 1; }
done
SENTIENT_BUILD=$PWD/build/bin
export SENTIENT_BUILD SENTIENT_PICTURE SENTIENT_THEME
exec build/scripts/with-display.sh go test -tags windowsmoke,windowpicture -count=1 -timeout 5m -run '^TestPicture$' ./build/windowtest/
