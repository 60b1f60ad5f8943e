// Package clienttest drives the OpenAI-compatible API with OpenAI's own clients for Node.js and Python, as other apps do.
// It owns no code of the product, and nothing imports it.
//
// Its tests have the build tag "clients" (go test -tags clients ./build/clienttest/). Without more they serve the API
// over scripted turns; with -args -engine they start build/bin/sentient beside a model service on loopback. cases.cjs and
// cases.py hold the same cases, one in each client's words, and print a line a case. build/scripts/setup.sh brings the
// clients into build/cache/clienttest; where they are not there the tests skip with the reason, and fail under CI=true.
package clienttest
