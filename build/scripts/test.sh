#!/bin/sh
# Runs everything that tests Sentient. The last line is "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/../.."
exec go run ./build/testrun "$@"
