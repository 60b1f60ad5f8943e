package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// CallID rewrites a tool call's id that a service would refuse (chats go on with another service's calls in them) to n
// letters and digits. The same id gives the same result, so a call and its result stay together.
func CallID(id string, shape *regexp.Regexp, n int) string {
	if shape.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:n]
}

// Parameter is a member of a request that it does without, and how a refusal names it.
type Parameter struct {
	Name  string
	Words *regexp.Regexp // over lower case
}

// Refused remembers which parameters a model refused by name. The zero Refused is ready.
type Refused struct {
	mu     sync.Mutex
	models map[string]map[string]bool
}

var refusesParameter = regexp.MustCompile(`unsupported|unrecognized|unknown|unexpected|extra|not (be )?(supported|permitted|allowed|recognized|available)|(does not|doesn't|do not) support|invalid|no longer supported|deprecated|may only be set|must be`)

// Learn names the parameter that a 400 or 422 is about, of those that were sent, and remembers it. It gives "" when there is none.
func (r *Refused) Learn(model string, e *StatusError, all []Parameter, sent map[string]bool) string {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return ""
	}
	said := strings.ToLower(string(e.Body))
	if !refusesParameter.MatchString(said) {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range all {
		if !sent[p.Name] || r.models[model][p.Name] || !p.Words.MatchString(said) {
			continue
		}
		if r.models == nil {
			r.models = map[string]map[string]bool{}
		}
		if r.models[model] == nil {
			r.models[model] = map[string]bool{}
		}
		r.models[model][p.Name] = true
		return p.Name
	}
	return ""
}

// Has says that the model refused the parameter.
func (r *Refused) Has(model, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.models[model][name]
}
