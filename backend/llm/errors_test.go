package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"sentient/backend/errs"
	"sentient/backend/obs"
)

var (
	openrouter = Service{ID: "openrouter", Label: "OpenRouter", Site: "openrouter.ai"}
	openAI     = Service{ID: "openai", Label: "OpenAI", Site: "platform.openai.com"}
	claude     = Service{ID: "anthropic", Label: "Anthropic", Site: "console.anthropic.com"}
	ollama     = Service{ID: "ollama", Label: "Ollama", Local: true}
	builtin    = Service{ID: "builtin", Label: "The built-in model", Local: true}
)

// plain is what every sentence must look like.
var plain = regexp.MustCompile(`^[A-Z\d“].*[.]$`)

// refusals are what services really answered, shortened.
var refusals = []struct {
	name   string
	s      Service
	model  string
	status int
	after  string
	body   string
	code   string
	want   string
}{
	{"free a day", openrouter, "x:free", 429, "", `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429}}`, CodeRateLimited,
		"OpenRouter's free models have reached today's limit. Add credits on openrouter.ai, wait until tomorrow, or pick another model in Settings > Models."},
	{"free a day in a stream", openrouter, "x:free", 0, "", `{"error":{"message":"Rate limit exceeded: free-models-per-day-high-balance.","code":429}}`, CodeRateLimited, "OpenRouter's free models have reached today's limit."},
	{"free a minute", openrouter, "x:free", 429, "", `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429}}`, CodeRateLimited, "only a few requests a minute"},
	{"rate", openAI, "gpt-5", 429, "20", `{"error":{"message":"Rate limit reached for gpt-5"}}`, CodeRateLimited, "Wait 20 seconds and try again"},
	{"rate, no time", openAI, "gpt-5", 429, "", `{}`, CodeRateLimited, "Wait a minute and try again"},
	{"rate, minutes", openAI, "gpt-5", 429, "300", ``, CodeRateLimited, "Wait about 5 minutes and try again"},
	{"rate, hours", openAI, "gpt-5", 429, "18000", ``, CodeRateLimited, "Wait about 5 hours and try again"},
	{"no quota is no rate", openAI, "gpt-5", 429, "", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}`, CodeNoCredits, "Add credits on platform.openai.com"},
	{"gemini's free tier is a rate", Service{ID: "gemini", Label: "Gemini"}, "g", 429, "", `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED"}}]`, CodeRateLimited, "Wait 35 seconds and try again"},
	{"402", openrouter, "m", 402, "", `{"error":{"message":"Insufficient credits","code":402}}`, CodeNoCredits, "There are no credits left at OpenRouter. Add credits on openrouter.ai, or pick another model in Settings > Models."},
	{"low balance", claude, "claude-sonnet-5", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, CodeNoCredits, "Add credits on console.anthropic.com"},
	{"401", openAI, "gpt-5", 401, "", `{"error":{"message":"Incorrect API key provided: sk-abcdefghijklmnop.","code":"invalid_api_key"}}`, CodeKeyRejected, "OpenAI does not accept the key."},
	{"gemini key", Service{ID: "gemini", Label: "Gemini"}, "g", 400, "", `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, CodeKeyRejected, "Gemini does not accept the key."},
	{"403", openAI, "gpt-5", 403, "", `{"error":{"message":"You are not allowed to sample from this model"}}`, CodeKeyRejected, "does not let this key use gpt-5"},
	{"country", openAI, "gpt-5", 403, "", `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`, CodeModelRefused, "does not answer from this country"},
	{"coding agents", Service{ID: "kimi", Label: "Kimi"}, "kimi-for-coding", 403, "", `{"error":{"message":"Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.","type":"access_terminated_error"}}`, CodeModelRefused,
		"Kimi keeps kimi-for-coding for coding tools. Pick another model in Settings > Models."},
	{"coding credential", claude, "claude-opus-4-6", 400, "", `{"error":{"message":"This credential is only authorized for use with Claude Code and cannot be used for other API requests."}}`, CodeModelRefused, "for coding tools"},
	{"unknown model", openAI, "gpt-99", 404, "", `{"error":{"message":"The model gpt-99 does not exist or you do not have access to it.","code":"model_not_found"}}`, CodeModelUnknown, "OpenAI has no model called gpt-99."},
	{"not found, claude", claude, "claude-9", 404, "", `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, CodeModelUnknown, "Anthropic has no model called claude-9."},
	{"openrouter endpoints", openrouter, "a/b", 404, "", `{"error":{"message":"No endpoints found for a/b.","code":404}}`, CodeModelUnknown, "OpenRouter has no model called a/b."},
	{"openrouter policy", openrouter, "a/b:free", 404, "", `{"error":{"message":"No endpoints found matching your data policy","code":404}}`, CodeModelRefused, "privacy settings"},
	{"openrouter tools", openrouter, "a/b", 404, "", `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, CodeNoTools, "The model a/b can't use tools."},
	{"not downloaded", ollama, "qwen3:8b", 404, "", `{"error":"model 'qwen3:8b' not found"}`, CodeModelUnknown, "Ollama has not downloaded qwen3:8b. Download it in Settings > Models, or pick another model there."},
	{"no tools", ollama, "gemma:2b", 400, "", `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`, CodeNoTools, "The model gemma:2b can't use tools."},
	{"memory", ollama, "llama3:70b", 500, "", `{"error":"model requires more system memory (39.3 GiB) than is available (7.5 GiB)"}`, CodeModelRefused, "not have enough free memory for llama3:70b"},
	{"loading", builtin, "m", 503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, CodeDown, "The built-in model is still loading its model."},
	{"no model loaded", Service{ID: "lm_studio", Label: "LM Studio", Local: true}, "m", 404, "", `{"error":{"message":"No models loaded. Please load a model in the developer page."}}`, CodeModelUnknown, "No model is loaded in LM Studio."},
	{"context, cloud", openAI, "gpt-5", 400, "", `{"error":{"message":"This model's maximum context length is 400000 tokens.","code":"context_length_exceeded"}}`, CodeContextTooBig, "Start a new chat, or pick another model"},
	{"context, claude", claude, "claude-sonnet-5", 400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`, CodeContextTooBig, "longer than what claude-sonnet-5 reads at once"},
	{"context, llama", builtin, "m", 400, "", `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}`, CodeContextTooBig, "set a longer context length"},
	{"413", claude, "m", 413, "", `{"type":"error","error":{"type":"request_too_large"}}`, CodeContextTooBig, "too large for Anthropic"},
	{"pictures", openAI, "gpt-3.5", 400, "", `{"error":{"message":"Invalid content type. image_url is only supported by certain models."}}`, CodeModelRefused, "can't read pictures"},
	{"content rules", openrouter, "m", 403, "", `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["x"]}}}`, CodeModelRefused, "content rules"},
	{"500", openAI, "m", 500, "", `<html>Bad gateway</html>`, CodeDown, "OpenAI is down or overloaded right now."},
	{"529", claude, "m", 529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, CodeDown, "Anthropic is down or overloaded right now."},
	{"overloaded in a stream", claude, "m", 0, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, CodeDown, "down or overloaded"},
	{"busy in a stream", openAI, "m", 0, "", `{"error":{"message":"busy"}}`, CodeDown, "down or overloaded"},
	{"504", openAI, "m", 504, "", ``, CodeSlow, "took too long"},
	{"redirect", openAI, "m", 301, "", ``, CodeUnreachable, "points somewhere else"},
	{"own words", openAI, "m", 400, "", `{"error":{"message":"Image dimensions must be divisible by 16."}}`, CodeModelRefused, "OpenAI turned this request down: “Image dimensions must be divisible by 16.” Try again"},
	{"own words that are no words", openAI, "m", 400, "", `{"error":{"message":"Traceback: File \"/srv/app.py\" {…}"}}`, CodeModelRefused, "OpenAI turned this request down. Try again"},
	{"own words with a secret", openAI, "m", 418, "", `{"error":{"message":"What is sk-abcdefghijkl123?"}}`, CodeModelRefused, "turned this request down. Try again"},
	{"rubbish", openAI, "m", 418, "", "\x00\xff", CodeModelRefused, "turned this request down"},
	{"no label", Service{}, "", 400, "", ``, CodeModelRefused, "The model service turned"},
}

func TestRefused(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			if c.after != "" {
				h.Set("Retry-After", c.after)
			}
			e := c.s.Refused(c.model, c.status, h, []byte(c.body))
			if e.Code != c.code || !strings.Contains(e.Message, c.want) {
				t.Errorf("%s %q\nwant %s %q", e.Code, e.Message, c.code, c.want)
			}
			if !plain.MatchString(e.Message) || strings.Contains(e.Message, "\n") {
				t.Errorf("not a sentence: %q", e.Message)
			}
			if strings.Contains(e.Error(), "sk-abc") {
				t.Errorf("a key in %q", e.Error())
			}
			if errs.StatusOf(e) != http.StatusServiceUnavailable {
				t.Errorf("status %d", errs.StatusOf(e))
			}
			if r, ok := errors.AsType[*Refusal](e); !ok || len(r.Raw) > maxRaw+8 {
				t.Errorf("cause %v", e.Cause)
			}
		})
	}
}

func TestRefusedCutsAndHides(t *testing.T) {
	obs.Hide("topsecret-value")
	e := openAI.Refused("m", 500, http.Header{"Retry-After": {"7"}}, []byte(strings.Repeat("ü", maxRaw)+"topsecret-value"))
	if r, _ := errors.AsType[*Refusal](e); len(r.Raw) > maxRaw+8 || RetryAfter(fmt.Errorf("x: %w", e)) != 7*time.Second {
		t.Fatalf("%d bytes, after %v", len(r.Raw), RetryAfter(e))
	}
	e = openAI.Refused("m", 500, nil, []byte("topsecret-value"))
	if strings.Contains(e.Error(), "topsecret") || RetryAfter(e) != 0 || RetryAfter(errors.New("x")) != 0 {
		t.Fatal(e.Error())
	}
}

func TestTransport(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	ours := errs.New(errs.Limited, "x", "No.")
	for _, c := range []struct {
		name    string
		s       Service
		err     error
		started bool
		code    string
		same    bool
	}{
		{"ours", openAI, fmt.Errorf("x: %w", ours), false, "x", false},
		{"cancelled", openAI, context.Canceled, false, "", true},
		{"deadline", openAI, context.DeadlineExceeded, true, CodeSlow, false},
		{"refused", ollama, refused, false, CodeUnreachable, false},
		{"broke", openAI, errors.New("unexpected EOF"), true, CodeBroken, false},
	} {
		err := c.s.Transport(c.err, c.started)
		if errs.Code(err) != c.code || c.same && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if openAI.Transport(nil, true) != nil {
		t.Error("nil is no error")
	}
	for _, e := range []*errs.Error{openAI.KeyMissing(), openAI.Broken(nil), openAI.Empty("m"), openAI.Slow(nil), ollama.Slow(nil), openAI.Unreachable(nil), ollama.Unreachable(nil), openAI.NotAModel(nil)} {
		if !plain.MatchString(e.Message) || e.Status != 503 {
			t.Errorf("%q %d", e.Message, e.Status)
		}
	}
	if !strings.Contains(ollama.Unreachable(refused).Message, "Ollama is not running. Start it") {
		t.Error(ollama.Unreachable(refused).Message)
	}
	if e := openAI.Broken(errors.New("Bearer abcdefghijklmnop")); strings.Contains(e.Error(), "abcdefghijklmnop") {
		t.Error(e.Error())
	}
}
