package llm

import (
	_ "embed" // the prompt
	"encoding/json"
	"strings"
)

//go:embed prompts/schema.md
var schemaPrompt string

// SchemaPrompt is what a model is told when its service cannot hold it to a schema.
func SchemaPrompt(schema json.RawMessage) string {
	return strings.TrimSpace(strings.ReplaceAll(schemaPrompt, "{{schema}}", string(schema)))
}
