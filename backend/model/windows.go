package model

import "regexp"

// knownWindow is how many tokens a family of cloud models reads at once.
type knownWindow struct {
	model  *regexp.Regexp
	tokens int
}

// windows are the makers' own figures, most special first. A model that is not listed is unknown (0), and then the context
// meter says nothing (§1): a guess that is too long would be worse than none.
var windows = func() map[string][]knownWindow {
	of := func(pattern string, tokens int) knownWindow { return knownWindow{regexp.MustCompile(pattern), tokens} }
	openai := []knownWindow{
		of(`^gpt-4\.1`, 1_047_576), of(`^gpt-5.*-chat`, 128_000), of(`^gpt-5`, 400_000), of(`^gpt-4o`, 128_000),
		of(`^gpt-4-turbo`, 128_000), of(`^(o1|o3|o4)(-|$)`, 200_000), of(`^gpt-oss-`, 131_072), of(`^gpt-3\.5-turbo`, 16_385),
	}
	anthropic := []knownWindow{of(`^claude-`, 200_000)}
	gemini := []knownWindow{of(`^gemini-(2\.5|2\.0|1\.5-flash|3)`, 1_048_576), of(`^gemini-1\.5-pro`, 2_097_152)}
	mistral := []knownWindow{of(`^(mistral-(large|medium|small)|ministral|codestral|magistral|devstral)`, 128_000)}
	deepseek := []knownWindow{of(`^deepseek-(chat|reasoner|v3)`, 128_000)}
	xai := []knownWindow{of(`^grok-4-fast`, 2_000_000), of(`^grok-4`, 256_000), of(`^grok-3`, 131_072)}
	return map[string][]knownWindow{
		"openai": openai, "anthropic": anthropic, "gemini": gemini, "mistral": mistral, "deepseek": deepseek, "xai": xai,
		"groq": {of(`^openai/gpt-oss-`, 131_072), of(`^(llama-3\.|meta-llama/llama-4|qwen/qwen3|moonshotai/kimi-k2)`, 131_072)},
		"openrouter": {of(`^anthropic/claude-`, 200_000), of(`^openai/gpt-5`, 400_000), of(`^openai/gpt-4\.1`, 1_047_576),
			of(`^openai/gpt-4o`, 128_000), of(`^google/gemini-(2\.5|3)`, 1_048_576), of(`^deepseek/deepseek-(chat|r1|v3)`, 128_000)},
	}
}()

// window gives the context length of a cloud model in tokens, 0 when it is not known.
func window(provider, model string) int {
	for _, w := range windows[provider] {
		if w.model.MatchString(model) {
			return w.tokens
		}
	}
	return 0
}
