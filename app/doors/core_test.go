package doors

import (
	"slices"
	"strings"
	"testing"

	"sentient/backend/api"
	"sentient/backend/testkit"
)

func TestCore(t *testing.T) {
	run(t, []scenario{
		{name: "open to anybody", op: "health.get", who: "none", method: "GET", path: "/api/health", status: 200, has: []string{`"ok":true`, `"version":"test"`, `"name":"Sentient"`}},
		{name: "answers", op: "health.get", method: "GET", path: "/api/health", status: 200, has: []string{`"ok":true`}},
	})
	run(t, append(refusals("bootstrap.get", "GET", "/api/bootstrap"),
		scenario{name: "everything a window needs", op: "bootstrap.get", method: "GET", path: "/api/bootstrap", status: 200,
			has: []string{`"assistant":{"name":"Sentient"`, `"primary":"ollama_chat/qwen3:8b"`, `"unread_notifications":0`, `"stop":{"stopped":false,"stopped_at":null,"source":null}`,
				`"theme":"dark"`, `"safe_mode":null`, `"notes":[]`}},
		scenario{name: "counts unread notes", op: "bootstrap.get", method: "GET", path: "/api/bootstrap", before: aNote, status: 200, has: []string{`"unread_notifications":1`}},
	))
	run(t, append(refusals("gateway.link", "POST", "/api/gateway/link"),
		scenario{name: "a link that opens once", op: "gateway.link", method: "POST", path: "/api/gateway/link", status: 200, has: []string{`"url":"http://127.0.0.1:`, "/open?code="}},
	))
	run(t, append(refusals("store.restore", "POST", "/api/store/restore"),
		scenario{name: "no copy named", op: "store.restore", method: "POST", path: "/api/store/restore", body: `{}`, status: 422, has: []string{"snapshot"}},
		scenario{name: "not in safe mode", op: "store.restore", method: "POST", path: "/api/store/restore", body: `{"snapshot":"x.db"}`, status: 409, has: []string{`"code":"not_in_safe_mode"`}},
	))
	run(t, append(refusals("onboarding.complete", "POST", "/api/onboarding"),
		scenario{name: "a zone that is none", op: "onboarding.complete", method: "POST", path: "/api/onboarding", body: `{"timezone":"Mars/Olympus","persona":"friendly"}`, status: 422},
		scenario{name: "a persona that is none", op: "onboarding.complete", method: "POST", path: "/api/onboarding", body: `{"persona":"pirate"}`, status: 422, has: []string{"persona"}},
		scenario{name: "saved", op: "onboarding.complete", method: "POST", path: "/api/onboarding",
			body:   `{"user_name":"Maya","assistant_name":"Sentient","timezone":"Asia/Kolkata","location":"Pune, India","professional_context":"Architect","personal_context":"","persona":"friendly","daily_brief":false}`,
			status: 200, has: []string{`"ok":true`}, events: map[string]int{"config.updated": 1},
			after: func(k *testkit.Kit, _ map[string]string) {
				var b api.Bootstrap
				k.Must("bootstrap.get", api.Nothing{}, &b)
				if b.Assistant.UserName != "Maya" || !b.Assistant.OnboardingComplete || b.Assistant.Timezone != "Asia/Kolkata" {
					k.T.Errorf("bootstrap after the setup: %+v", b.Assistant)
				}
			}},
	))
}

func TestSettings(t *testing.T) {
	run(t, append(refusals("config.get", "GET", "/api/config"),
		scenario{name: "all of them", op: "config.get", method: "GET", path: "/api/config", status: 200, has: []string{`"history_window":30`, `"timeout_s":600`, `"port":7777`}},
	))
	run(t, append(refusals("config.schema", "GET", "/api/config/schema"),
		scenario{name: "with descriptions", op: "config.schema", method: "GET", path: "/api/config/schema", status: 200, has: []string{`"description"`, `"default"`}},
	))
	run(t, append(refusals("config.put", "PUT", "/api/config"),
		scenario{name: "not JSON", op: "config.put", method: "PUT", path: "/api/config", body: `{"ui":`, status: 400, has: []string{`"code":"not_json"`}},
		scenario{name: "not an object", op: "config.put", method: "PUT", path: "/api/config", body: `[]`, status: 422},
		scenario{name: "an unknown key", op: "config.put", method: "PUT", path: "/api/config", body: `{"colour":"red"}`, status: 422, has: []string{`"type":"extra_forbidden"`, `"loc":["colour"]`}},
		scenario{name: "replaced", op: "config.put", method: "PUT", path: "/api/config", body: `{"ui":{"theme":"light"}}`, status: 200, has: []string{`"saved":true`}, events: map[string]int{"config.updated": 1}},
	))
	run(t, append(refusals("config.patch", "PATCH", "/api/config"),
		scenario{name: "a wrong value", op: "config.patch", method: "PATCH", path: "/api/config", body: `{"ui":{"theme":"pink"}}`, status: 422, has: []string{`"loc":["ui","theme"]`, `"type":"literal_error"`}},
		scenario{name: "too small", op: "config.patch", method: "PATCH", path: "/api/config", body: `{"models":{"context_length":1}}`, status: 422, has: []string{`"loc":["models","context_length"]`, `"type":"greater_than_equal"`}},
		scenario{name: "an unknown key", op: "config.patch", method: "PATCH", path: "/api/config", body: `{"ui":{"colour":"red"}}`, status: 422, has: []string{`"type":"extra_forbidden"`}},
		scenario{name: "nothing new", op: "config.patch", method: "PATCH", path: "/api/config", body: `{"ui":{"theme":"dark"}}`, status: 200, has: []string{`"saved":true`}},
		scenario{name: "merged", op: "config.patch", method: "PATCH", path: "/api/config", body: `{"ui":{"theme":"light"}}`, status: 200, has: []string{`"theme":"light"`, `"minimize_to_tray":true`}, events: map[string]int{"config.updated": 1}},
	))
}

func TestModels(t *testing.T) {
	for _, c := range []struct{ op, method, path string }{
		{"models.providers", "GET", "/api/models/providers"}, {"models.local", "GET", "/api/models/local"}, {"models.ready", "GET", "/api/models/ready"},
		{"models.catalog", "GET", "/api/models/catalog?provider=openai"}, {"models.test", "POST", "/api/models/test"},
		{"models.test_embedding", "POST", "/api/models/test-embedding"}, {"models.set_roles", "PUT", "/api/models/roles"},
		{"models.pull", "POST", "/api/models/ollama/pull"}, {"models.builtin", "GET", "/api/models/builtin"},
		{"models.builtin_download", "POST", "/api/models/builtin/download"},
	} {
		run(t, refusals(c.op, c.method, c.path))
	}
	run(t, []scenario{
		{name: "all services", op: "models.providers", method: "GET", path: "/api/models/providers", status: 200,
			has: []string{`"id":"anthropic"`, `"id":"builtin"`, `"id":"ollama"`, `"kind":"cloud"`, `"kind":"local"`, `"key_set":false`}},
		{name: "what is here", op: "models.local", method: "GET", path: "/api/models/local", status: 200, has: []string{`"ollama":`, `"lm_studio":`, `"reachable":`}},
		{name: "which answers", op: "models.ready", method: "GET", path: "/api/models/ready", status: 200, has: []string{`"ok":`}},
		{name: "a service that is none", op: "models.catalog", method: "GET", path: "/api/models/catalog?provider=nobody", status: 404},
		{name: "a name without provider", op: "models.test", method: "POST", path: "/api/models/test", body: `{"model":"gpt"}`, status: 422},
		{name: "a service without a key", op: "models.test", method: "POST", path: "/api/models/test", body: `{"model":"openai/gpt-5"}`, status: 200, has: []string{`"ok":false`, `"error":"`}},
		{name: "a name without provider", op: "models.test_embedding", method: "POST", path: "/api/models/test-embedding", body: `{"model":"x"}`, status: 422},
		{name: "a role that is no model", op: "models.set_roles", method: "PUT", path: "/api/models/roles", body: `{"primary":"gpt"}`, status: 422},
		{name: "a role set and one cleared", op: "models.set_roles", method: "PUT", path: "/api/models/roles", body: `{"primary":"openai/gpt-5","fast":null}`, status: 200,
			has: []string{`"primary":"openai/gpt-5"`, `"fast":null`}, events: map[string]int{"config.updated": 1}},
		{name: "the built-in one", op: "models.builtin", method: "GET", path: "/api/models/builtin", status: 200, has: []string{`"state":"`, `"message":"`}},
		{name: "one that is not offered", op: "models.builtin_download", method: "POST", path: "/api/models/builtin/download", body: `{"name":"nobody"}`, status: 404},
		{name: "without a name", op: "models.pull", method: "POST", path: "/api/models/ollama/pull", body: `{}`, status: 422},
	})
	run(t, append(refusals("secrets.list", "GET", "/api/secrets"),
		scenario{name: "names, never values", op: "secrets.list", method: "GET", path: "/api/secrets", status: 200, has: []string{`"name":"openai"`, `"kind":"provider"`}, lacks: []string{`"value"`}},
	))
	run(t, append(refusals("secrets.set", "PUT", "/api/secrets/openai"),
		scenario{name: "a name that is none", op: "secrets.set", method: "PUT", path: "/api/secrets/nobody", body: `{"value":"sk-test-123456789"}`, status: 404},
		scenario{name: "a sign-in", op: "secrets.set", method: "PUT", path: "/api/secrets/chatgpt", body: `{"value":"sk-test-123456789"}`, status: 400},
		scenario{name: "without a value", op: "secrets.set", method: "PUT", path: "/api/secrets/openai", body: `{}`, status: 422},
		scenario{name: "kept and never shown", op: "secrets.set", method: "PUT", path: "/api/secrets/openai", body: `{"value":"sk-test-canary-123456789"}`, status: 200, has: []string{`"ok":true`}, lacks: []string{"canary"},
			after: func(k *testkit.Kit, _ map[string]string) {
				_, list := k.Do(k.Request("GET", "/api/secrets", ""))
				if strings.Contains(list, "canary") || strings.Contains(k.Log.String(), "canary") {
					k.T.Error("the key shows")
				}
			}},
	))
	run(t, append(refusals("secrets.delete", "DELETE", "/api/secrets/openai"),
		scenario{name: "a name that is none", op: "secrets.delete", method: "DELETE", path: "/api/secrets/nobody", status: 404},
		scenario{name: "one that is not set", op: "secrets.delete", method: "DELETE", path: "/api/secrets/openai", status: 200},
	))
}

// Every error code of the doors is one word of its own, so that programs can tell refusals apart.
func TestEveryOperationIsNamedOnce(t *testing.T) {
	k := testkit.Start(t)
	var ids, routes []string
	for _, o := range k.Operations() {
		if slices.Contains(ids, o.ID) {
			t.Error("twice in the table:", o.ID)
		}
		ids = append(ids, o.ID)
		if o.Path == "" {
			continue
		}
		if route := o.Verb + " " + o.Path; slices.Contains(routes, route) {
			t.Error("two operations for", route)
		} else {
			routes = append(routes, route)
		}
	}
}
