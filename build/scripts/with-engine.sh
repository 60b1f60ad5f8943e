#!/bin/sh
# Runs a command beside a fresh engine that answers with the stub model. The command finds SENTIENT_URL (a one-time link to
# the page), SENTIENT_BASE (the address), SENTIENT_TOKEN and SENTIENT_HOME. Everything ends with the command.
#   with-engine.sh COMMAND [ARGUMENT…]
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
home=$(mktemp -d)
stub="" engine=""
finish() {
    status=$?
    trap - EXIT INT TERM
    [ -z "$engine" ] || kill "$engine" 2>/dev/null || true
    [ -z "$engine" ] || wait "$engine" 2>/dev/null || true
    exec 3>&-
    [ -z "$stub" ] || wait "$stub" 2>/dev/null || true
    [ "$status" = 0 ] || { echo "── the engine's output:"; tail -n 40 "$home/serve.log" 2>/dev/null || true; }
    rm -rf "$home"
    exit "$status"
}
trap finish EXIT INT TERM

[ -x build/bin/sentient ] || { echo "build/bin/sentient is not there: run ./task build first." >&2; exit 1; }
mkdir -p build/cache/bin
go build -o build/cache/bin/stubmodel ./build/stubmodel
mkfifo "$home/stub.in"
build/cache/bin/stubmodel < "$home/stub.in" > "$home/stub.out" &
stub=$!
exec 3> "$home/stub.in" # the stub ends when this is closed

await() { # FILE PATTERN: the first match, within 20 s
    for _ in $(seq 200); do
        found=$(sed -n "s/.*\($2\).*/\1/p" "$1" 2>/dev/null | head -n 1)
        [ -z "$found" ] || { echo "$found"; return 0; }
        sleep 0.1
    done
    echo "nothing like $2 came in $1" >&2
    return 1
}

mkdir "$home/data"
model=$(await "$home/stub.out" 'http:[^ ]*')
cat > "$home/data/config.yaml" <<YAML
models:
  roles:
    primary: lm_studio/stub
    fast: lm_studio/stub
  providers:
    lm_studio:
      api_base: $model
${SENTIENT_CONFIG:-}
YAML
SENTIENT_HOME="$home/data" build/bin/sentient serve --port 0 > "$home/serve.log" 2>&1 &
engine=$!
SENTIENT_URL=$(await "$home/serve.log" 'http:[^ ]*open?code=[^ ]*')
SENTIENT_BASE=${SENTIENT_URL%%/open*}
SENTIENT_TOKEN=$(cat "$home/data/gateway.token")
SENTIENT_HOME="$home/data"
SENTIENT_BIN="$root/build/bin/sentient"
export SENTIENT_URL SENTIENT_BASE SENTIENT_TOKEN SENTIENT_HOME SENTIENT_BIN
"$@"
