package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"golang.org/x/text/cases"
)

// namespaceVar overrides the namespace (§3).
const namespaceVar = "SENTIENT_KEYCHAIN_NAMESPACE"

// namespace gives the service under which a data folder's entries stand (§3): "sentient" for the default folder,
// "sentient-<12 hex>" for any other, and what the variable says where it is set. Only the word default, exactly and in
// any case, shares the default folder's entries.
func namespace(home, defaultHome, word string) string {
	if word != "" {
		if strings.EqualFold(word, "default") {
			return "sentient"
		}
		clean := strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, strings.ToLower(word)), "-")
		if clean == "" || clean == "default" {
			return "sentient-x" + short(word)
		}
		return "sentient-" + clean
	}
	is, def := fold(home), fold(defaultHome)
	if home == "" || is == def {
		return "sentient"
	}
	return "sentient-" + short(is)
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:12]
}

// fold gives the one spelling of a folder: absolute, links followed as far as it exists, without case.
func fold(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			path = filepath.Join(real, rest)
			break
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
	return cases.Fold().String(filepath.Clean(path))
}
