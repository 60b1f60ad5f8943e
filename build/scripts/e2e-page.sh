#!/bin/sh
# Drives the served page of the built program in Chromium.
set -eu
cd "$(dirname "$0")/../.."
command -v chromium >/dev/null || {
    [ "${CI:-}" != true ] || { echo "chromium is missing" >&2; exit 1; }
    echo "skipped: chromium is not installed"
    mkdir -p frontend/test-results
    echo '{"stats":{"expected":0,"unexpected":0,"flaky":0,"skipped":1}}' > frontend/test-results/playwright.json
    exit 0
}
exec build/scripts/with-engine.sh sh -c 'cd frontend && npm run --silent e2e'
