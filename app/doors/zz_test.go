package doors

import (
	"testing"

	"sentient/backend/api"
)

// Runs after all others: go test keeps the order of files, and this one stands last.
func TestEveryOperationHasAScenario(t *testing.T) {
	if len(covered) < 30 {
		t.Skip("only part of the tests was run")
	}
	checkAllCovered(t, api.NewTable(api.Services{}, nil))
}
