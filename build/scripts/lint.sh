#!/bin/sh
# Form and vet of everything, with the tags of each program.
set -eu
cd "$(dirname "$0")/../.."
unformatted=$(gofmt -l app backend build main.go 2>/dev/null || true)
[ -z "$unformatted" ] || { echo "gofmt is due:" "$unformatted" >&2; exit 1; }
go vet ./...
go vet -tags desktop,production,webkit2_41 ./app/desktop
go vet -tags tray ./app/tray
(cd frontend && npm run --silent lint)
