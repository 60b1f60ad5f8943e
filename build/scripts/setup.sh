#!/bin/sh
# Installs what building and testing need: Debian packages (where apt is), npm packages. Quick when nothing is missing.
set -eu
cd "$(dirname "$0")/../.."

say() { echo "setup: $*" >&2; }
need() { command -v "$1" >/dev/null || { say "$2"; exit 1; }; }

need go "Sentient needs Go 1.26 or newer (go.dev/dl)."
need node "Sentient needs Node.js 20 or newer (nodejs.org)."
need npm "Sentient needs npm, which comes with Node.js."

# Window and tray (GTK, WebKit, appindicator), then what the tests drive: a virtual display, a browser, a secret service.
packages="gcc pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev libayatana-appindicator3-dev
xvfb xauth x11-utils xdotool openbox imagemagick chromium dbus gnome-keyring fonts-dejavu-core
python3 python3-venv"

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    missing=""
    for p in $packages; do
        dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
    done
    if [ -n "$missing" ]; then
        as_root=""
        [ "$(id -u)" = 0 ] || as_root="sudo"
        say "installing Debian packages:$missing"
        $as_root apt-get update -qq
        # shellcheck disable=SC2086 # a list of words
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
    fi
else
    say "this is no Debian: install by hand what of these is missing:" $packages
fi

stamp=frontend/node_modules/.package-lock.json
if [ ! -e "$stamp" ] || [ frontend/package-lock.json -nt "$stamp" ]; then
    say "installing npm packages"
    (cd frontend && npm ci --no-audit --no-fund --loglevel=error)
    touch "$stamp"
fi

# OpenAI's clients, which the tests of /v1 drive. Nothing else needs them: those tests say when they are not there.
build/clienttest/install.sh || say "OpenAI's clients could not be installed; the tests with them will be skipped."
