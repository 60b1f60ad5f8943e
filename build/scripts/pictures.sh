#!/bin/sh
# Takes the pictures of the docs from the running program: docs/pictures/*.png.
set -eu
cd "$(dirname "$0")/../.."
command -v chromium >/dev/null || { echo "chromium is missing" >&2; exit 1; }
mkdir -p docs/pictures
exec build/scripts/with-engine.sh node frontend/e2e/pictures.mjs docs/pictures
