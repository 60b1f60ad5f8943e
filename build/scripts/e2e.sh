#!/bin/sh
# The page in Chromium, then the real window on a virtual display.
set -eu
cd "$(dirname "$0")/../.."
build/scripts/e2e-page.sh
build/scripts/window-smoke.sh
