package config

// Models is which models answer, and how (§3).
type Models struct {
	Roles                   Roles                    `json:"roles" doc:"The model of each role. An empty role uses the primary model."`
	Presets                 map[string]Preset        `json:"presets" default:"{}" keys:"preset" doc:"Your own named setups. The built-in ones (Local only, Cloud, Mixed) are not kept here."`
	ActivePreset            *string                  `json:"active_preset" default:"null" maxlen:"40" doc:"The preset applied last, or nothing."`
	Fallbacks               map[string][]string      `json:"fallbacks" default:"{}" keys:"role" format:"model" nulls:"remove" doc:"For each role, the models to try when its own cannot answer, in order."`
	Reasoning               map[string]string        `json:"reasoning" default:"{\"primary\":\"medium\",\"fast\":\"none\",\"planner\":\"none\",\"executor\":\"none\",\"voice\":\"none\"}" keys:"role" enum:"none,minimal,low,medium,high" nulls:"remove" doc:"For each role, how much a model that can think does so."`
	Temperature             map[string]float64       `json:"temperature" default:"{}" keys:"role" min:"0" max:"2" nulls:"remove" doc:"For each role, the temperature. A role left out uses the model's own."`
	ContextLength           int                      `json:"context_length" default:"8192" min:"2048" max:"1048576" doc:"How many tokens a local model reads at once."`
	ContextLengthPerRole    map[string]int           `json:"context_length_per_role" default:"{}" keys:"role" min:"2048" max:"1048576" nulls:"remove" doc:"The same for single roles."`
	Providers               map[string]ProviderEntry `json:"providers" default:"{\"builtin\":{},\"ollama\":{\"api_base\":\"http://localhost:11434\"},\"ollama_chat\":{\"api_base\":\"http://localhost:11434\"},\"lm_studio\":{\"api_base\":\"http://localhost:1234/v1\"},\"llamafile\":{\"api_base\":\"http://localhost:8080/v1\"},\"vllm\":{\"api_base\":\"http://localhost:8000/v1\"},\"openai\":{\"api_key_env\":\"OPENAI_API_KEY\"},\"anthropic\":{\"api_key_env\":\"ANTHROPIC_API_KEY\"},\"gemini\":{\"api_key_env\":\"GEMINI_API_KEY\"},\"openrouter\":{\"api_key_env\":\"OPENROUTER_API_KEY\"},\"groq\":{\"api_key_env\":\"GROQ_API_KEY\"},\"mistral\":{\"api_key_env\":\"MISTRAL_API_KEY\"},\"deepseek\":{\"api_key_env\":\"DEEPSEEK_API_KEY\"},\"xai\":{\"api_key_env\":\"XAI_API_KEY\"},\"nous\":{\"api_base\":\"https://inference-api.nousresearch.com/v1\",\"api_key_env\":\"NOUS_API_KEY\"},\"chatgpt\":{},\"claude-code\":{}}" keys:"provider" nulls:"remove" doc:"Where each provider is reached. builtin is the small model that Sentient runs by itself; it answers where nothing else is set up."`
	MaxToolRounds           int                      `json:"max_tool_rounds" default:"12" min:"1" max:"100" doc:"How many rounds of tools one reply may take."`
	RequestTimeoutS         int                      `json:"request_timeout_s" default:"180" min:"5" max:"3600" doc:"How long a model may be silent before a request is given up, in seconds. A local model that still reads a long prompt is given longer."`
	LocalOnly               bool                     `json:"local_only" default:"false" doc:"Use only models that run on this computer. Nothing is sent to a cloud model or a cloud speech service."`
	LocalQueue              bool                     `json:"local_queue" default:"true" doc:"A local model does one job at a time, chats first."`
	MonthlyBudgetUSD        float64                  `json:"monthly_budget_usd" default:"0" min:"0" max:"1000000" doc:"What cloud models may cost in a month, in US dollars. 0: no budget."`
	BudgetAtLimit           string                   `json:"budget_at_limit" default:"ask" enum:"ask,stop" doc:"When the budget is used up: ask whether to keep going this month, or stop."`
	BackgroundQuietS        int                      `json:"background_quiet_s" default:"30" min:"0" max:"3600" doc:"Work in the background waits until a reply has been over for so many seconds."`
	BackgroundOnBattery     bool                     `json:"background_on_battery" default:"false" doc:"On battery, do Sentient's own upkeep as usual, down to the critical level."`
	BatteryMinPercent       int                      `json:"battery_min_percent" default:"40" min:"0" max:"100" doc:"On battery, upkeep goes only above this charge."`
	BatteryIdleS            int                      `json:"battery_idle_s" default:"300" min:"0" max:"86400" doc:"On battery, upkeep goes only when you have not chatted for so many seconds."`
	BatteryUpkeepEveryS     int                      `json:"battery_upkeep_every_s" default:"1800" min:"0" max:"86400" doc:"On battery, at least so many seconds between two bursts of upkeep."`
	BatteryCriticalPercent  int                      `json:"battery_critical_percent" default:"15" min:"0" max:"100" doc:"At or below this charge upkeep waits in any case."`
	BatteryMaxWaitS         int                      `json:"battery_max_wait_s" default:"7200" min:"0" max:"604800" doc:"No upkeep waits longer than so many seconds because of the battery."`
	ExperimentalClaudeCode  bool                     `json:"experimental_claude_code" default:"false" doc:"Use Claude through your own Claude Code (experimental). It then answers chats only."`
	ClaudeCodeEverywhere    bool                     `json:"claude_code_everywhere" default:"false" doc:"Let Claude Code do everything but embeddings. Counts only while Claude Code is on."`
	ClaudeCodeMaxConcurrent int                      `json:"claude_code_max_concurrent" default:"2" min:"1" max:"8" doc:"How many Claude Code processes run at once."`
	ChatGPTClientID         string                   `json:"chatgpt_client_id" default:"dynamic_agent_client" maxlen:"200" doc:"The client id for signing in with ChatGPT. Empty turns that sign-in off."`
}

// Roles are the models of the roles; nil uses Primary. Names are "provider/model".
type Roles struct {
	Primary   string  `json:"primary" default:"ollama_chat/qwen3:8b" format:"model" doc:"The main model: it answers chats."`
	Fast      *string `json:"fast" default:"ollama_chat/qwen3:8b" format:"model" doc:"Small jobs in the background: titles, memories, checks."`
	Planner   *string `json:"planner" default:"null" format:"model" doc:"Plans tasks. Empty: the primary model."`
	Executor  *string `json:"executor" default:"null" format:"model" doc:"Carries tasks out and does helpers' work. Empty: the primary model."`
	Embedding *string `json:"embedding" default:"ollama/nomic-embed-text" format:"model" doc:"Finds memories and notes by meaning. Empty: search by words only."`
	Vision    *string `json:"vision" default:"null" format:"model" doc:"Looks at pictures. Empty: the primary model."`
	Voice     *string `json:"voice" default:"null" format:"model" doc:"Answers when you speak. Empty: the primary model."`
}

// RoleNames are the roles in the contract's order.
func RoleNames() []string {
	return []string{"primary", "fast", "planner", "executor", "embedding", "vision", "voice"}
}

// Own gives the role's own model, or "" when it has none or the role is unknown.
func (r Roles) Own(role string) string {
	if role == "primary" {
		return r.Primary
	}
	own := map[string]*string{"fast": r.Fast, "planner": r.Planner, "executor": r.Executor, "embedding": r.Embedding,
		"vision": r.Vision, "voice": r.Voice}[role]
	if own == nil {
		return ""
	}
	return *own
}

// Model gives the model a role uses: its own, else the primary one. An embedding role without a model has none ("").
func (r Roles) Model(role string) string {
	if own := r.Own(role); own != "" || role == "embedding" {
		return own
	}
	return r.Primary
}

// ProviderEntry is where one provider is reached.
type ProviderEntry struct {
	APIBase   string `json:"api_base" default:"" format:"url" doc:"The address of the provider's API. Empty: its usual one."`
	APIKeyEnv string `json:"api_key_env" default:"" format:"envname" doc:"The environment variable that may hold its key. A key kept in Sentient counts first."`
}

// Preset is a named setup of all roles (§3, #212). What is left out is left as it is when the preset is applied.
type Preset struct {
	Roles                map[string]*string  `json:"roles" default:"{}" keys:"role" format:"model" doc:"The models of the roles. A role left out keeps its model; null uses the primary model."`
	Fallbacks            map[string][]string `json:"fallbacks,omitzero" default:"null" keys:"role" format:"model" doc:"The fallbacks of the roles."`
	Reasoning            map[string]string   `json:"reasoning,omitzero" default:"null" keys:"role" enum:"none,minimal,low,medium,high" doc:"How much each role thinks."`
	ContextLength        *int                `json:"context_length,omitzero" default:"null" min:"2048" max:"1048576" doc:"How many tokens a local model reads at once."`
	ContextLengthPerRole map[string]int      `json:"context_length_per_role,omitzero" default:"null" keys:"role" min:"2048" max:"1048576" doc:"The same for single roles."`
}
