// Package programtest tests the built program from outside: it starts build/bin/sentient as a person would, speaks to it
// over HTTP and WebSocket, kills it, fills its disk, damages its files, and looks at what is left. It owns no code of the
// product, and nothing imports it.
//
// Its tests have the build tag "program" (go test -tags program ./build/programtest/). The program is built when it is
// older than its sources; SENTIENT_PROGRAM names another one to test instead. Models are stubs on loopback. What a test
// cannot do on a machine (mount a small disk without root) it skips with the reason; under CI=true that fails.
package programtest
