package scripted

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Dim is how long the stand-in vectors are.
const Dim = 64

// Embed gives each text the vector of Vector.
func (m *Model) Embed(ctx context.Context, _ string, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.embedded = append(m.embedded, texts...)
	m.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = Vector(t)
	}
	return out, nil
}

// Embedded gives every text that was asked for a vector, in order.
func (m *Model) Embedded() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.embedded...)
}

// Vector is a bag of hashed words of length 1: texts that share words are near each other, the same text is the same
// vector, always. A text without words is the first unit vector.
func Vector(text string) []float32 {
	v := make([]float32, Dim)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		h := fnv.New32a()
		h.Write([]byte(w))
		v[h.Sum32()%Dim]++
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0] = 1
		return v
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}
