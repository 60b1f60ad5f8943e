package secret

import (
	"encoding/json"
	"regexp"
)

// secretMember: members of a sign-in or an app's entry whose values are secret by themselves.
var secretMember = regexp.MustCompile(`(?i)token|secret|password|key|authorization|cookie`)

// members gives the secret texts inside a JSON object: a log may show a token without the sign-in around it.
func members(value string) []string {
	if len(value) == 0 || value[0] != '{' {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(value), &v) != nil {
		return nil
	}
	var out []string
	var walk func(v any, secret bool)
	walk = func(v any, secret bool) {
		switch x := v.(type) {
		case map[string]any:
			for k, c := range x {
				walk(c, secret || secretMember.MatchString(k))
			}
		case []any:
			for _, c := range x {
				walk(c, secret)
			}
		case string:
			if secret && len(x) >= 8 {
				out = append(out, x)
			}
		}
	}
	walk(v, false)
	return out
}
