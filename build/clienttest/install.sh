#!/bin/sh
# Brings OpenAI's clients for Node.js and Python into build/cache/clienttest, each package by version and hash. Quick when
# they are there.
set -eu
cd "$(dirname "$0")"
to=../cache/clienttest
say() { echo "clients: $*" >&2; }

recipe=$(cat package.json package-lock.json .npmrc requirements.txt install.sh | cksum)
[ "$(cat "$to/ready" 2>/dev/null)" != "$recipe" ] || exit 0

python=""
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$p
        break
    fi
done
[ -n "$python" ] || { say "Python 3.11 or newer with venv is needed (on Debian: python3 and python3-venv)."; exit 1; }

say "installing OpenAI's clients"
rm -rf "$to"
mkdir -p "$to"
cp package.json package-lock.json .npmrc requirements.txt "$to"
(cd "$to" && npm ci --no-audit --no-fund --loglevel=error >&2)
# pip trusts a list of its own; where the computer has one (a company's network), that one counts, unless pip was told.
certs=/etc/ssl/certs/ca-certificates.crt
if [ -z "${PIP_CERT:-}" ] && [ -s "$certs" ]; then
    export PIP_CERT="$certs"
fi
"$python" -m venv "$to/venv"
"$to/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --only-binary :all: \
    --require-hashes -r "$to/requirements.txt"
echo "$recipe" > "$to/ready"
