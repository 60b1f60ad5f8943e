package llm

import "fmt"

// EmbedBatch is how many texts adapters send at once.
const EmbedBatch = 64

// CheckVectors holds what a service gave against the promise of Embedder: one vector a text, all of one length, none empty.
func CheckVectors(vectors [][]float32, texts int) error {
	if len(vectors) != texts {
		return fmt.Errorf("read vectors: %d for %d texts", len(vectors), texts)
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("read vectors: vector %d is %d long, the first %d", i, len(v), len(vectors[0]))
		}
	}
	return nil
}

// ModelInfo is a model that a service offers.
type ModelInfo struct {
	ID            string // as Request.Model takes it
	Name          string // for people; empty when the service gives none
	ContextLength int    // tokens it reads at once; 0 when the service does not say
}
