#!/bin/sh
# Brings the small local model when nothing else is set up that could answer: no Ollama, no key, no model of our own.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -e build/cache/models/index.json ] && ! build/bin/sentient doctor --can-answer >/dev/null 2>&1; then
    echo "No model is set up yet: bringing a small one that runs on this computer (about 350 MB, once)." >&2
    build/models/fetch.sh || echo "The small model could not be brought. Sentient starts without one and offers to set one up." >&2
fi
