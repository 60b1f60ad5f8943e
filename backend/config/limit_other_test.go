//go:build !unix

package config

import "testing"

func limitFiles(t *testing.T, _ uint64) { t.Skip("no such limit on this system") }
