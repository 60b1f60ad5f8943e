#!/bin/sh
# Fuzzes every target for the given time (60s, the default) or number of inputs (5000x) each. Where nobody watches it is a
# number: at the end of a time the go command may report its own deadline as a failure of the target.
set -eu
cd "$(dirname "$0")/../.."
each=${1:-60s}
found=0
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' backend app | xargs -n1 dirname | sort -u); do
    for target in $(grep -h '^func Fuzz' "$dir"/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/' | sort -u); do
        found=$((found + 1))
        echo "fuzz: $dir $target $each"
        GOMEMLIMIT=2GiB go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "./$dir"
    done
done
[ "$found" -gt 0 ] || { echo "fuzz: no target found" >&2; exit 1; }
echo "fuzz: $found targets, nothing found"
