// Package opt tells an absent member of a JSON object from one that is null, which PATCH needs (contract/README,
// decision 4).
package opt

import (
	"bytes"
	"encoding/json"
)

// Field is an optional, nullable member. Declare it with `json:"name,omitzero"`: the zero Field is absent and is left
// out on the way out; a JSON null sets Set and Null; anything else sets Set and Value.
type Field[T any] struct {
	Set   bool
	Null  bool
	Value T
}

// Of is a present, non-null member.
func Of[T any](v T) Field[T] { return Field[T]{Set: true, Value: v} }

// Null is a present null.
func Null[T any]() Field[T] { return Field[T]{Set: true, Null: true} }

// Get gives the value and whether there is one: false when absent or null.
func (f Field[T]) Get() (T, bool) { return f.Value, f.Set && !f.Null }

// IsZero makes omitzero leave an absent member out.
func (f Field[T]) IsZero() bool { return !f.Set }

// MarshalJSON writes null or the value.
func (f Field[T]) MarshalJSON() ([]byte, error) {
	if !f.Set || f.Null {
		return []byte("null"), nil
	}
	return json.Marshal(f.Value)
}

// UnmarshalJSON is called only when the member is there.
func (f *Field[T]) UnmarshalJSON(data []byte) error {
	*f = Field[T]{Set: true} // a member that stands there twice counts as the last one says
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		f.Null = true
		return nil
	}
	return json.Unmarshal(data, &f.Value)
}
