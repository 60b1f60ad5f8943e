package llm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sentient/backend/errs"
	"sentient/backend/obs"
)

// asked is one refusal with all that its sentence may need.
type asked struct {
	Service
	model   string
	status  int
	after   time.Duration
	words   string // everything the service said, lower case
	message string
}

// reason is a known reason to turn a request down. It applies when the provider, the status and the words fit, each when given.
type reason struct {
	provider string
	status   []int
	words    *regexp.Regexp
	local    bool // only services on this computer
	kind     errs.Kind
	code     string
	say      func(a asked) string
}

func (r reason) applies(a asked) bool {
	return (r.provider == "" || r.provider == a.ID) &&
		(len(r.status) == 0 || slices.Contains(r.status, a.status)) &&
		(r.words == nil || r.words.MatchString(a.words)) &&
		(!r.local || a.Local)
}

const pickAnother = "pick another model in Settings > Models"

// reasons are tried in order: words that tell more than their status come first.
var reasons = []reason{
	{provider: "openrouter", status: []int{429, 0}, words: words(`free-models-per-day`), kind: errs.Limited, code: CodeRateLimited, say: func(asked) string {
		return "OpenRouter's free models have reached today's limit. Add credits on openrouter.ai, wait until tomorrow, or " + pickAnother + "."
	}},
	{provider: "openrouter", status: []int{429, 0}, words: words(`free-models-per-min`), kind: errs.Limited, code: CodeRateLimited, say: func(asked) string {
		return "OpenRouter's free models take only a few requests a minute. Wait a minute and try again, add credits on openrouter.ai, or " + pickAnother + "."
	}},
	{words: words(`only (available|authorized|allowed) for (use with )?(claude code|coding)`, `coding (agents?|tools?|plans?|clients?)\b.{0,80}\b(only|such as)`, `(only|restricted|limited).{0,60}\bcoding (agents?|tools?|plans?|clients?)`, `access_terminated_error`),
		status: []int{400, 401, 403, 404, 0}, kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
			return fmt.Sprintf("%s keeps %s for coding tools. Pick another model in Settings > Models.", a.label(), a.model)
		}},
	{words: words(`context_length_exceeded`, `maximum context length`, `max(imum)? context window`, `prompt is too long`, `exceeds? the (available|maximum|model'?s?) (context|number of tokens)`, `exceed_context_size`, `input is too long`, `input length and .?max_tokens.? exceed`, `too many tokens`, `context window (is )?(full|exceeded)`, `input token count .{0,40}exceeds`, `reduce the length of (the messages|your)`, `greater than the context length`, `exceeds context`),
		kind: errs.TooLarge, code: CodeContextTooBig, say: func(a asked) string {
			if a.Local {
				return fmt.Sprintf("This chat is longer than what %s reads at once. Start a new chat, or set a longer context length in Settings > Models.", a.model)
			}
			return fmt.Sprintf("This chat is longer than what %s reads at once. Start a new chat, or pick another model in Settings > Models.", a.model)
		}},
	{status: []int{413}, kind: errs.TooLarge, code: CodeContextTooBig, say: func(a asked) string {
		return fmt.Sprintf("This message is too large for %s. Leave out files or pictures, or start a new chat.", a.label())
	}},
	{status: []int{402}, kind: errs.Unavailable, code: CodeNoCredits, say: noCredits},
	{words: words(`insufficient_quota`, `insufficient (balance|credits|funds)`, `credit balance is too low`, `no credits`, `out of credits`, `billing_hard_limit`, `spending limit`),
		status: []int{400, 403, 429, 0}, kind: errs.Unavailable, code: CodeNoCredits, say: noCredits},
	{words: words(`does not support (tools|function)`, `no endpoints found that support tool use`, `tools? (use|calling) is not supported`, `tools are not supported`, `tool choice requires`),
		kind: errs.Unavailable, code: CodeNoTools, say: func(a asked) string {
			return fmt.Sprintf("The model %s can't use tools. Pick another model in Settings > Models.", a.model)
		}},
	{words: words(`(does not|doesn't) support (images?|image input|vision)`, `image input is not supported`, `no endpoints found that support image`, `invalid content type\. image_url`, `not a vision model`, `missing (data required for image input|mmproj)`, `multimodal.{0,40}not supported`),
		kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
			return fmt.Sprintf("The model %s can't read pictures. Leave the picture out, or pick a vision model in Settings > Models.", a.model)
		}},
	{provider: "ollama", words: words(`model .{0,200}not found`, `try pulling`), status: []int{404, 400, 0}, kind: errs.NotFound, code: CodeModelUnknown, say: func(a asked) string {
		return fmt.Sprintf("Ollama has not downloaded %s. Download it in Settings > Models, or pick another model there.", a.model)
	}},
	{local: true, words: words(`more system memory`, `out of memory`, `failed to allocate`, `cudamalloc`, `insufficient memory`), kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
		return fmt.Sprintf("This computer does not have enough free memory for %s. Close other programs, or pick a smaller model in Settings > Models.", a.model)
	}},
	{local: true, words: words(`no models? (is )?loaded`), kind: errs.NotFound, code: CodeModelUnknown, say: func(a asked) string {
		return fmt.Sprintf("No model is loaded in %s. Load %s there, or pick another model in Settings > Models.", a.label(), a.model)
	}},
	{local: true, words: words(`loading model`, `model is (still )?loading`), kind: errs.Unavailable, code: CodeDown, say: func(a asked) string {
		return fmt.Sprintf("%s is still loading its model. Try again in a moment.", a.label())
	}},
	{status: []int{403}, words: words(`(country|region|territory|location).{0,40}not supported`, `not (available|supported) in your (country|region|location)`), kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
		return fmt.Sprintf("%s does not answer from this country. Pick another model in Settings > Models.", a.label())
	}},
	{status: []int{400, 403, 0}, words: words(`content_policy`, `content_filter`, `flagged`, `moderation`, `safety system`, `usage policies`), kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
		return fmt.Sprintf("%s does not answer this because of its content rules. Say it in other words, or pick another model in Settings > Models.", a.label())
	}},
	{words: words(`data policy`, `privacy settings`), provider: "openrouter", kind: errs.Unavailable, code: CodeModelRefused, say: func(a asked) string {
		return fmt.Sprintf("OpenRouter's privacy settings of this account keep %s from being used. Change them on openrouter.ai, or pick another model in Settings > Models.", a.model)
	}},
	{words: words(`api[ _]key.{0,20}(not valid|invalid|expired|incorrect)`, `(invalid|incorrect|expired|wrong).{0,12}api[ _-]?key`, `invalid x-api-key`, `authentication_error`, `api_key_invalid`, `no auth credentials`), status: []int{400, 401, 403, 0}, kind: errs.Unavailable, code: CodeKeyRejected, say: keyRejected},
	{status: []int{401}, kind: errs.Unavailable, code: CodeKeyRejected, say: keyRejected},
	{words: words(`model_not_found`, `model.{0,120}(does not exist|doesn't exist|not found|not exist|is not available|no longer available|decommissioned|deprecated)`, `not a valid model`, `invalid model`, `unknown model`, `no endpoints found`, `no allowed providers`), status: []int{400, 403, 404, 410, 422, 0}, kind: errs.NotFound, code: CodeModelUnknown, say: modelUnknown},
	{status: []int{403}, kind: errs.Unavailable, code: CodeKeyRejected, say: func(a asked) string {
		return fmt.Sprintf("%s does not let this key use %s. Check the key in Settings > Models, or pick another model there.", a.label(), a.model)
	}},
	{status: []int{404}, words: words(`model`), kind: errs.NotFound, code: CodeModelUnknown, say: modelUnknown},
	{status: []int{404, 405, 410, 501}, kind: errs.Unavailable, code: CodeModelUnknown, say: func(a asked) string {
		return fmt.Sprintf("%s has no %s at this address. Check the address in Settings > Models, or pick another model there.", a.label(), a.model)
	}},
	{status: []int{300, 301, 302, 303, 307, 308}, kind: errs.Unavailable, code: CodeUnreachable, say: func(a asked) string {
		return fmt.Sprintf("The address of %s points somewhere else. Check it in Settings > Models.", a.label())
	}},
	{status: []int{429}, kind: errs.Limited, code: CodeRateLimited, say: rateLimited},
	{status: []int{0}, words: words(`rate.?limit`, `too many requests`, `resource_exhausted`), kind: errs.Limited, code: CodeRateLimited, say: rateLimited},
	{status: []int{408, 504, 524}, kind: errs.Timeout, code: CodeSlow, say: func(a asked) string {
		return fmt.Sprintf("%s took too long to answer. Try again, or pick another model in Settings > Models.", a.label())
	}},
	{words: words(`overloaded`, `server_error`, `api_error`, `internal error`, `internal server error`, `temporarily unavailable`, `service unavailable`, `\bbusy\b`, `at capacity`), status: []int{0}, kind: errs.Unavailable, code: CodeDown, say: down},
	{status: []int{409, 425}, kind: errs.Unavailable, code: CodeDown, say: down},
	{status: []int{500, 502, 503, 520, 521, 522, 523, 525, 526, 529, 530, 598, 599}, kind: errs.Unavailable, code: CodeDown, say: down},
}

func words(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + strings.Join(patterns, "|"))
}

func noCredits(a asked) string {
	where := ""
	if a.Site != "" {
		where = " on " + a.Site
	}
	return fmt.Sprintf("There are no credits left at %s. Add credits%s, or %s.", lowerThe(a.label()), where, pickAnother)
}

func keyRejected(a asked) string {
	if a.Local {
		return fmt.Sprintf("%s wants a key, or does not accept the one that is set. Check it in Settings > Models.", a.label())
	}
	return fmt.Sprintf("%s does not accept the key. Check it in Settings > Models, or pick another model there.", a.label())
}

func modelUnknown(a asked) string {
	return fmt.Sprintf("%s has no model called %s. Pick another model in Settings > Models.", a.label(), a.model)
}

func rateLimited(a asked) string {
	wait := "Wait a minute"
	switch {
	case a.after > 90*time.Minute:
		wait = fmt.Sprintf("Wait about %d hours", int((a.after+time.Hour/2)/time.Hour))
	case a.after > 90*time.Second:
		wait = fmt.Sprintf("Wait about %d minutes", int((a.after+time.Minute-1)/time.Minute))
	case a.after > 0:
		wait = fmt.Sprintf("Wait %d seconds", max(2, int((a.after+time.Second-1)/time.Second)))
	}
	return fmt.Sprintf("%s takes no more requests for now: its limit is reached. %s and try again, or %s.", a.label(), wait, pickAnother)
}

func down(a asked) string {
	if a.Local {
		return fmt.Sprintf("%s ran into a problem. Try again, restart it, or %s.", a.label(), pickAnother)
	}
	return fmt.Sprintf("%s is down or overloaded right now. Try again in a moment, or %s.", a.label(), pickAnother)
}

func lowerThe(s string) string {
	if rest, ok := strings.CutPrefix(s, "The "); ok {
		return "the " + rest
	}
	return s
}

// ownWords keeps a service's own words where the reason is not known (§1: "other failures keep their text"), when they are a
// short plain text: one line, no markup, no address, no path, nothing secret.
func (a asked) ownWords() string {
	own := strings.Join(strings.Fields(a.message), " ")
	if own == "" || len(own) > 300 || notPlain.MatchString(own) || obs.Redact(own) != own {
		return fmt.Sprintf("%s turned this request down. Try again, or %s. The details are in Sentient's log.", a.label(), pickAnother)
	}
	return fmt.Sprintf("%s turned this request down: “%s” Try again, or %s.", a.label(), own, pickAnother)
}

var notPlain = regexp.MustCompile(`[<>{}\\]|https?://|(^|\s)/[a-z]|(?i)\bkey\b.*[a-z0-9*]{12,}`)
