package config

// Tools is what Sentient may do and when it asks (§2, §10).
type Tools struct {
	Approvals         Approvals `json:"approvals" doc:"When Sentient asks before it does something."`
	Disabled          []string  `json:"disabled" default:"[]" minlen:"1" maxlen:"200" doc:"Tools that are switched off, by name."`
	RepeatedCallLimit int       `json:"repeated_call_limit" default:"3" min:"0" max:"50" doc:"Stop when the same call with the same details gave the same result so often. 0: never."`
	Snapshots         Snapshots `json:"snapshots" doc:"Copies of files before code or a command changes them, so that they can be put back."`
}

// Approvals is when Sentient asks (§2, ADR 0016). Keys of Rules are tool names or plugin ids.
type Approvals struct {
	Mode               string                `json:"mode" default:"ask" enum:"off,ask,always" doc:"off asks only for what always needs a yes; ask asks before anything that changes or sends something; always asks before everything."`
	RememberSession    bool                  `json:"remember_session" default:"true" doc:"Offer Allow for this chat."`
	TimeoutS           int                   `json:"timeout_s" default:"600" min:"10" max:"86400" doc:"How long a chat waits for your answer, in seconds. No answer counts as no."`
	TaskRequestMinutes int                   `json:"task_request_minutes" default:"240" min:"1" max:"43200" doc:"How long a task waits for your approval, in minutes."`
	GrantMinutes       int                   `json:"grant_minutes" default:"60" min:"1" max:"1440" doc:"How long a timed Allow lasts, in minutes."`
	UndoSeconds        int                   `json:"undo_seconds" default:"10" min:"0" max:"60" doc:"How long a message waits before it is sent, so that you can undo it, in seconds. 0 turns this off."`
	PreferTrash        bool                  `json:"prefer_trash" default:"true" doc:"Move things to the trash where the app has one, instead of deleting them for good."`
	SecondLookModel    bool                  `json:"second_look_model" default:"true" doc:"Let a model check what is about to be sent against your own words."`
	Rules              map[string]string     `json:"rules" default:"{}" keys:"rule" enum:"allow,if_asked,ask,hand_off,never" norm:"lower" nulls:"remove" doc:"Lasting rules: for a tool or an app, allow, if_asked, ask, hand_off or never. A tool's own rule beats its app's."`
	RuleOrigins        map[string]RuleOrigin `json:"rule_origins" default:"{}" keys:"rule" nulls:"remove" doc:"Where each lasting rule came from."`
}

// RuleOrigin is where a lasting rule came from.
type RuleOrigin struct {
	Rule      string  `json:"rule" default:"" enum:"-,allow,if_asked,ask,hand_off,never" norm:"lower" doc:"The rule it belongs to."`
	Said      string  `json:"said" default:"" maxlen:"600" doc:"Your words, when it came from a chat."`
	At        string  `json:"at" default:"" maxlen:"64" doc:"When, as a time in UTC."`
	SessionID *string `json:"session_id" default:"null" maxlen:"200" doc:"The chat it came from."`
	Source    string  `json:"source" default:"chat" enum:"chat,approval" doc:"From a chat message, or from an answer to a request."`
	Via       *string `json:"via" default:"null" maxlen:"60" doc:"Where you answered: desktop, telegram, discord or whatsapp."`
}

// Snapshots are copies of files before a change (§10).
type Snapshots struct {
	Enabled    bool `json:"enabled" default:"true" doc:"Keep copies of files that code, a command or Sentient is about to change."`
	MaxFileMB  int  `json:"max_file_mb" default:"5" min:"1" max:"1024" doc:"The largest file that is copied, in MB."`
	MaxTotalMB int  `json:"max_total_mb" default:"25" min:"1" max:"10240" doc:"The most that is copied for one change, in MB."`
	MaxFiles   int  `json:"max_files" default:"500" min:"1" max:"100000" doc:"The most files copied for one change."`
	KeepDays   int  `json:"keep_days" default:"7" min:"1" max:"365" doc:"How long copies are kept, in days."`
	MaxKeptMB  int  `json:"max_kept_mb" default:"1000" min:"10" max:"1000000" doc:"The most all copies together take, in MB."`
}

// Memory is what is remembered (§7).
type Memory struct {
	FactsTopK                int     `json:"facts_top_k" default:"8" min:"0" max:"100" doc:"How many memories a model reads with a message."`
	MinSimilarity            float64 `json:"min_similarity" default:"0.35" min:"0" max:"1" doc:"How close to the message a memory must be."`
	DuplicateSimilarity      float64 `json:"duplicate_similarity" default:"0.98" min:"0" max:"1" doc:"From which likeness on a new memory is the same as one already kept."`
	ExtractAfterTurn         bool    `json:"extract_after_turn" default:"true" doc:"Learn from chats after each reply."`
	WorkspaceBudgetChars     int     `json:"workspace_budget_chars" default:"6000" min:"0" max:"200000" doc:"How much of your profile files a model reads, in characters."`
	GraphLinkSimilarity      float64 `json:"graph_link_similarity" default:"0.8" min:"0" max:"1" doc:"From which likeness on two memories are linked in the graph."`
	KeywordWeight            float64 `json:"keyword_weight" default:"0.15" min:"0" max:"1" doc:"How much shared words count in a search, beside meaning."`
	SummariesEnabled         bool    `json:"summaries_enabled" default:"true" doc:"Summarize quiet chats, so that they can be found by what they were about."`
	SummarizeAfterMinutes    int     `json:"summarize_after_minutes" default:"60" min:"1" max:"10080" doc:"A chat quiet for so many minutes is summarized."`
	SummaryChunkMessages     int     `json:"summary_chunk_messages" default:"30" min:"2" max:"500" doc:"How many messages one summary covers."`
	SummarizeIntervalMinutes int     `json:"summarize_interval_minutes" default:"5" min:"1" max:"1440" doc:"How often to look for chats to summarize, in minutes."`
	PurgeIntervalMinutes     int     `json:"purge_interval_minutes" default:"60" min:"1" max:"10080" doc:"How often memories that ran out are removed, in minutes."`
	KeepSupersededDays       int     `json:"keep_superseded_days" default:"180" min:"0" max:"36500" doc:"How long a memory that was replaced stays as history, in days. 0: for good."`
	ReviewExpireDays         int     `json:"review_expire_days" default:"30" min:"1" max:"3650" doc:"Memories waiting for your review are removed after so many days."`
	ImportChunkChars         int     `json:"import_chunk_chars" default:"4000" min:"500" max:"100000" doc:"How much of an import the model reads at once, in characters."`
	FlushEnabled             bool    `json:"flush_enabled" default:"true" doc:"Learn from the older part of a chat before it is summarized for the model."`
	FlushMaxChars            int     `json:"flush_max_chars" default:"6000" min:"500" max:"200000" doc:"How much of it is read, in characters."`
	FlushMaxFacts            int     `json:"flush_max_facts" default:"8" min:"1" max:"100" doc:"How many memories that gives at most."`
}

// Tasks is tasks and routines (§4).
type Tasks struct {
	TickSeconds              int        `json:"tick_seconds" default:"30" min:"1" max:"3600" doc:"How often to look for tasks that are due, in seconds."`
	MaxConcurrentRuns        int        `json:"max_concurrent_runs" default:"2" min:"1" max:"20" doc:"How many runs work side by side."`
	RunTimeoutMinutes        int        `json:"run_timeout_minutes" default:"30" min:"1" max:"1440" doc:"After so many minutes of work a run asks whether to keep going."`
	MaxToolRounds            int        `json:"max_tool_rounds" default:"40" min:"1" max:"500" doc:"After so many steps a run asks whether to keep going."`
	MaxTokensPerRun          int        `json:"max_tokens_per_run" default:"2000000" min:"0" max:"1000000000" doc:"After so many tokens on cloud models a run asks whether to keep going. 0: no limit."`
	MaxCostPerRunUSD         float64    `json:"max_cost_per_run_usd" default:"5" min:"0" max:"10000" doc:"After spending so much on cloud models, in US dollars, a run asks whether to keep going. 0: no limit."`
	RequirePlanApproval      bool       `json:"require_plan_approval" default:"true" doc:"A new task's plan waits for your yes."`
	SwarmMaxAgents           int        `json:"swarm_max_agents" default:"5" min:"1" max:"20" doc:"How many workers of a swarm task work side by side."`
	ResumeInterruptedRuns    bool       `json:"resume_interrupted_runs" default:"true" doc:"Carry on after a restart with runs that were working."`
	StuckAfterMinutes        int        `json:"stuck_after_minutes" default:"10" min:"0" max:"1440" doc:"A run that shows no sign of work for so many minutes is stuck and asks you. 0: never."`
	StuckAfterRepeatedErrors int        `json:"stuck_after_repeated_errors" default:"5" min:"0" max:"100" doc:"A run in which a tool failed the same way so many times in a row is stuck and asks you. 0: never."`
	CatchUpWindowHours       int        `json:"catch_up_window_hours" default:"12" min:"0" max:"8760" doc:"A task missed while the computer was off still runs when it is less than so many hours late. 0: never."`
	SourceRetryMinutes       int        `json:"source_retry_minutes" default:"15" min:"1" max:"1440" doc:"When what a routine reads is not there, it tries again after so many minutes."`
	SourceRetries            int        `json:"source_retries" default:"3" min:"0" max:"100" doc:"How often it tries again before it waits for its next run."`
	AwayPauseDays            int        `json:"away_pause_days" default:"7" min:"0" max:"3650" doc:"After so many days without you, routines ask whether to keep running. 0: never."`
	AwayPauseAfterResults    int        `json:"away_pause_after_results" default:"20" min:"0" max:"10000" doc:"After so many results you have not looked at, routines ask whether to keep running. 0: never."`
	AwayAskHours             int        `json:"away_ask_hours" default:"24" min:"0" max:"720" doc:"How long that question waits before routines pause, in hours. 0: they pause without asking."`
	Email                    TasksEmail `json:"email" doc:"Give Sentient a task by forwarding or copying an email to its address."`
}

// TasksEmail is tasks by email (§4, ADR 0033).
type TasksEmail struct {
	Enabled        bool     `json:"enabled" default:"false" doc:"Emails to Sentient's address become tasks."`
	Address        string   `json:"address" default:"" format:"email" doc:"Sentient's address, usually a plus-address such as you+sentient@gmail.com."`
	Label          string   `json:"label" default:"" maxlen:"200" doc:"A Gmail label or IMAP folder whose mail counts too. Empty: none."`
	AllowedSenders []string `json:"allowed_senders" default:"[]" format:"email" norm:"addresses" doc:"Other addresses that may send tasks. Your own always can."`
}

// Integrations is connected apps (§5, §16).
type Integrations struct {
	OAuthRedirectPort           int                  `json:"oauth_redirect_port" default:"0" min:"0" max:"65535" doc:"The port on this computer that sign-ins come back to. 0 picks a free one."`
	SearchProvider              string               `json:"search_provider" default:"duckduckgo" enum:"duckduckgo,brave,google_cse,searxng" doc:"Which service searches the web."`
	SearxngURL                  string               `json:"searxng_url" default:"" format:"url" doc:"The address of your SearXNG, when that searches."`
	WeatherProvider             string               `json:"weather_provider" default:"open_meteo" enum:"open_meteo,accuweather" doc:"Which service tells the weather."`
	NewsCountry                 string               `json:"news_country" default:"" format:"country" doc:"The country for headlines, as two letters such as in or de. Empty: the world."`
	MCPServers                  map[string]MCPServer `json:"mcp_servers" default:"{}" keys:"mcp" nulls:"remove" doc:"MCP servers. Their keys and headers stand in the keychain, never here."`
	HideDisconnectedTools       bool                 `json:"hide_disconnected_tools" default:"true" doc:"Do not offer a model the tools of apps that are not connected."`
	ReadOnly                    []string             `json:"read_only" default:"[]" minlen:"1" maxlen:"200" doc:"Apps that Sentient may only read from, by id (gmail, github, mcp_name)."`
	WebFetchMaxChars            int                  `json:"web_fetch_max_chars" default:"20000" min:"500" max:"1000000" doc:"How much of a web page is read, in characters."`
	GithubOAuthClientID         string               `json:"github_oauth_client_id" default:"" maxlen:"200" doc:"A client id for signing in to GitHub with a code. Empty: with a token."`
	MCPTimeoutS                 int                  `json:"mcp_timeout_s" default:"60" min:"1" max:"3600" doc:"How long a call to an MCP server may take, in seconds."`
	MCPServerEnabled            bool                 `json:"mcp_server_enabled" default:"false" doc:"Other AI apps on this computer may use Sentient over MCP."`
	MCPServerMemoriesSkipReview bool                 `json:"mcp_server_memories_skip_review" default:"false" doc:"Memories that such an app adds are kept without your review. Off is safer: they come from outside."`
	FastSyncSeconds             int                  `json:"fast_sync_seconds" default:"60" min:"0" max:"3600" doc:"How often connected mail and calendars are looked at, in seconds. 0 turns this off."`
	HideOneTimeCodes            bool                 `json:"hide_one_time_codes" default:"true" doc:"Hide one-time codes and sign-in links in emails from the model."`
	WebhookMaxBodyKB            int                  `json:"webhook_max_body_kb" default:"256" min:"1" max:"10240" doc:"The largest body a webhook takes, in KB."`
	WebhookRateLimitPerMinute   int                  `json:"webhook_rate_limit_per_minute" default:"30" min:"0" max:"10000" doc:"How many calls a minute each webhook takes. 0: no limit."`
	HomeAssistantCheckS         float64              `json:"home_assistant_check_s" default:"4" min:"0" max:"60" doc:"How long to watch whether a device really did what was asked, in seconds. 0 turns the check off."`
	HomeAssistantLive           bool                 `json:"home_assistant_live" default:"true" doc:"Notice at once when something at home changes."`
}

// MCPServer is one MCP server's entry (§5). Values of EnvKeys and HeaderKeys stand in the keychain.
type MCPServer struct {
	Transport  string   `json:"transport" default:"stdio" enum:"stdio,http" doc:"A command on this computer (stdio) or an address (http)."`
	Command    string   `json:"command" default:"" maxlen:"4000" doc:"The command, for stdio."`
	Args       []string `json:"args" default:"[]" maxlen:"4000" doc:"What is passed to the command."`
	URL        string   `json:"url" default:"" format:"url" doc:"The address, for http."`
	EnvKeys    []string `json:"env_keys" default:"[]" minlen:"1" maxlen:"200" doc:"Names of the environment variables it gets."`
	Auth       string   `json:"auth" default:"none" enum:"none,headers,oauth" doc:"How to sign in to it."`
	HeaderKeys []string `json:"header_keys" default:"[]" minlen:"1" maxlen:"200" doc:"Names of the headers it gets."`
	Enabled    bool     `json:"enabled" default:"true" doc:"Use this server."`
}

// Proactivity is suggestions, follow-ups and briefs (§6).
type Proactivity struct {
	Enabled                 bool      `json:"enabled" default:"true" doc:"Make suggestions without being asked. They never send or change anything by themselves."`
	PollIntervalMinutes     int       `json:"poll_interval_minutes" default:"10" min:"1" max:"1440" doc:"How often to look at the sources, in minutes."`
	BaseConfidenceThreshold float64   `json:"base_confidence_threshold" default:"0.7" min:"0" max:"1" doc:"How sure a suggestion must be to be shown."`
	QuietHours              string    `json:"quiet_hours" default:"" format:"hours" doc:"Hours without suggestions, such as 22:00-07:00. Empty: none."`
	HeartbeatMinutes        int       `json:"heartbeat_minutes" default:"0" min:"0" max:"1440" doc:"Look every so many minutes whether a nudge is worth it. 0: never."`
	HeartbeatDailyCap       int       `json:"heartbeat_daily_cap" default:"3" min:"0" max:"50" doc:"How many such nudges a day at most."`
	Sources                 []string  `json:"sources" default:"[\"gmail\",\"gcalendar\"]" minlen:"1" maxlen:"60" doc:"The apps that suggestions come from."`
	ReasonerRole            string    `json:"reasoner_role" default:"fast" enum:"primary,fast,planner,executor" doc:"Which model role thinks about them."`
	ContextAgentRounds      int       `json:"context_agent_rounds" default:"3" min:"0" max:"20" doc:"How many look-ups it may make for one suggestion."`
	FirstPollLookbackHours  int       `json:"first_poll_lookback_hours" default:"6" min:"0" max:"168" doc:"How far back the first look goes, in hours."`
	MaxItemsPerPoll         int       `json:"max_items_per_poll" default:"20" min:"1" max:"500" doc:"How many new items one look takes."`
	SuggestionTTLHours      int       `json:"suggestion_ttl_hours" default:"48" min:"1" max:"8760" doc:"A suggestion nobody acted on goes away after so many hours."`
	WebhookSuggestions      bool      `json:"webhook_suggestions" default:"true" doc:"Make suggestions from webhooks too."`
	Followups               Followups `json:"followups" doc:"Notice email threads that were dropped."`
	Brief                   Brief     `json:"brief" doc:"The daily brief and the evening brief."`
}

// Followups notices dropped email threads.
type Followups struct {
	Enabled           bool     `json:"enabled" default:"true" doc:"Notice emails that wait for an answer, yours or theirs."`
	Sources           []string `json:"sources" default:"[\"gmail\",\"email_imap\"]" minlen:"1" maxlen:"60" doc:"The email accounts that are looked at."`
	WaitingOnYouDays  int      `json:"waiting_on_you_days" default:"3" min:"1" max:"90" doc:"After so many days without your answer."`
	WaitingOnThemDays int      `json:"waiting_on_them_days" default:"4" min:"1" max:"90" doc:"After so many days without theirs."`
	MaxAgeDays        int      `json:"max_age_days" default:"21" min:"1" max:"365" doc:"Threads older than so many days are left alone."`
	MaxSuggestions    int      `json:"max_suggestions" default:"3" min:"0" max:"50" doc:"How many follow-ups are suggested a day at most."`
}

// Brief is the daily and the evening brief.
type Brief struct {
	Sections        []string `json:"sections" default:"[\"calendar\",\"email\",\"tasks\",\"weather\"]" enum:"calendar,email,tasks,weather,news" doc:"What the morning brief holds."`
	EveningSections []string `json:"evening_sections" default:"[\"done\",\"sent\",\"files\",\"waiting\",\"tomorrow\"]" enum:"done,sent,files,waiting,tomorrow" doc:"What the evening brief holds."`
	MaxItems        int      `json:"max_items" default:"7" min:"1" max:"20" doc:"How many lines a brief has at most."`
	NewsTopics      []string `json:"news_topics" default:"[]" minlen:"1" maxlen:"100" maxitems:"5" doc:"Topics for the news in the morning brief, five at most."`
	SummarizeEmails bool     `json:"summarize_emails" default:"true" doc:"Let the fast model shorten each email to a line."`
}

// Voice is speech (§9, §16).
type Voice struct {
	STTProvider         string    `json:"stt_provider" default:"faster_whisper" enum:"faster_whisper,openai,deepgram,elevenlabs" doc:"What turns speech into text. faster_whisper stays on this computer."`
	STTModel            string    `json:"stt_model" default:"base" maxlen:"200" doc:"Its model."`
	STTDevice           string    `json:"stt_device" default:"auto" enum:"auto,cpu,cuda" doc:"Where it runs."`
	STTLanguage         string    `json:"stt_language" default:"" format:"language" doc:"The language you speak, as a code. Empty: found out by listening."`
	TTSProvider         string    `json:"tts_provider" default:"system" enum:"system,kokoro,openai,elevenlabs" doc:"What speaks. system and kokoro stay on this computer."`
	TTSVoice            string    `json:"tts_voice" default:"" maxlen:"200" doc:"The voice. Empty: the provider's own choice."`
	TTSSpeed            float64   `json:"tts_speed" default:"1.0" min:"0.25" max:"4" doc:"How fast it speaks."`
	TTSModel            string    `json:"tts_model" default:"" maxlen:"200" doc:"The provider's model. Empty: its usual one."`
	KokoroVariant       string    `json:"kokoro_variant" default:"fp32" enum:"fp32,fp16,int8" doc:"Which size of the kokoro voice is used."`
	VADSilenceMS        int       `json:"vad_silence_ms" default:"700" min:"100" max:"5000" doc:"So much silence ends what you say, in milliseconds."`
	VADMinSpeechMS      int       `json:"vad_min_speech_ms" default:"250" min:"0" max:"5000" doc:"Shorter sounds are not speech, in milliseconds."`
	VADMaxUtteranceS    int       `json:"vad_max_utterance_s" default:"30" min:"1" max:"300" doc:"The longest piece of speech, in seconds."`
	BargeIn             bool      `json:"barge_in" default:"true" doc:"Speaking stops Sentient's own speech."`
	TTSFirstClauseChars int       `json:"tts_first_clause_chars" default:"40" min:"0" max:"500" doc:"Speech starts at the first clause once it is so many characters long. 0: at whole sentences only."`
	PreloadOnStart      bool      `json:"preload_on_start" default:"false" doc:"Load the speech models when Sentient starts."`
	WakeWord            string    `json:"wake_word" default:"hey sentient" minlen:"1" maxlen:"60" doc:"The words that wake Sentient."`
	WakeEngine          string    `json:"wake_engine" default:"whisper" enum:"whisper,openwakeword" doc:"What listens for them. Both stay on this computer."`
	WakeSensitivity     float64   `json:"wake_sensitivity" default:"0.5" min:"0" max:"1" doc:"Higher wakes more easily."`
	WakeModel           string    `json:"wake_model" default:"" maxlen:"1000" doc:"The wake engine's model, a name or a file. Empty: chosen by the words."`
	WakeWhisperModel    string    `json:"wake_whisper_model" default:"base" enum:"tiny,base" doc:"The speech model that checks the words."`
	WakeEarcon          bool      `json:"wake_earcon" default:"true" doc:"A chime when it wakes."`
	FollowUpSeconds     float64   `json:"follow_up_seconds" default:"8" min:"0" max:"120" doc:"After a reply you can go on without the words for so many seconds."`
	Dictation           Dictation `json:"dictation" doc:"Push to talk, and dictation into any app."`
}

// Dictation is push to talk and dictation into any app (§9, #169).
type Dictation struct {
	Cleanup  string `json:"cleanup" default:"tidy" enum:"raw,tidy,polish" doc:"What happens to what was heard: nothing, filler sounds dropped, or also looked over by the fast model."`
	Language string `json:"language" default:"" format:"language" doc:"The language you dictate in, as a code. Empty: as for voice chats."`
}

// Browser is the web browser (§12).
type Browser struct {
	Enabled          bool                      `json:"enabled" default:"true" doc:"Sentient may use a web browser."`
	Engine           string                    `json:"engine" default:"auto" enum:"auto,msedge,chrome,chromium" doc:"Which installed browser is used."`
	Headless         bool                      `json:"headless" default:"true" doc:"Keep its window hidden."`
	IdleMinutes      int                       `json:"idle_minutes" default:"10" min:"1" max:"1440" doc:"It closes itself when unused for so many minutes."`
	AllowDomains     []string                  `json:"allow_domains" default:"[]" format:"domain" doc:"Only these sites may be opened. Empty: all but the blocked ones."`
	BlockDomains     []string                  `json:"block_domains" default:"[]" format:"domain" doc:"Sites that are never opened."`
	MaxSnapshotChars int                       `json:"max_snapshot_chars" default:"12000" min:"1000" max:"200000" doc:"How much of a page a model reads, in characters."`
	MaxExtractChars  int                       `json:"max_extract_chars" default:"20000" min:"1000" max:"1000000" doc:"How much text is taken out of a page, in characters."`
	ConfirmPurchases bool                      `json:"confirm_purchases" default:"true" doc:"Ask before every purchase, whatever else is set."`
	LiveView         bool                      `json:"live_view" default:"true" doc:"Show in the chat what the browser shows."`
	Profiles         map[string]BrowserProfile `json:"profiles" default:"{\"default\":{}}" keys:"profile" doc:"Browser profiles, each with its own sign-ins. default always exists."`
}

// BrowserProfile is one browser profile.
type BrowserProfile struct {
	Kind     string `json:"kind" default:"launch" enum:"launch,attach" doc:"launch has a folder of its own; attach uses a browser that is already running."`
	Engine   string `json:"engine" default:"" enum:"-,auto,msedge,chrome,chromium" doc:"Which browser. Empty: as set for all profiles."`
	Endpoint string `json:"endpoint" default:"" maxlen:"400" doc:"Where the running browser is reached, for attach."`
	Notes    string `json:"notes" default:"" maxlen:"1000" doc:"What this profile is for."`
}

// Channels is messaging apps (§14).
type Channels struct {
	Enabled            bool    `json:"enabled" default:"true" doc:"Messaging apps can be connected."`
	Telegram           Channel `json:"telegram" doc:"Telegram."`
	Discord            Channel `json:"discord" doc:"Discord."`
	Whatsapp           Channel `json:"whatsapp" default:"{\"edit_interval_s\":2.0}" doc:"WhatsApp."`
	PairingCodeMinutes int     `json:"pairing_code_minutes" default:"10" min:"1" max:"1440" doc:"How long a pairing code is good, in minutes."`
	PairingMaxAttempts int     `json:"pairing_max_attempts" default:"5" min:"1" max:"100" doc:"So many wrong codes cancel it."`
	DeliverTaskResults bool    `json:"deliver_task_results" default:"true" doc:"Task results and questions go to paired chats."`
	DeliverPlans       bool    `json:"deliver_plans" default:"true" doc:"Plans that wait for your yes go to paired chats."`
	DeliverSuggestions bool    `json:"deliver_suggestions" default:"true" doc:"Suggestions go to paired chats."`
	DeliverSubagents   bool    `json:"deliver_subagents" default:"true" doc:"What helpers in the background found goes to paired chats."`
	DeliverBriefs      bool    `json:"deliver_briefs" default:"true" doc:"Briefs go to paired chats."`
	DeliverReminders   bool    `json:"deliver_reminders" default:"false" doc:"Reminders and alarms set elsewhere go to paired chats too."`
}

// Channel is one messaging app.
type Channel struct {
	Enabled          bool    `json:"enabled" default:"true" doc:"Use this app when it is connected."`
	DeliverDefault   bool    `json:"deliver_default" default:"true" doc:"A newly paired chat gets results. Groups never do by themselves."`
	StreamEdits      bool    `json:"stream_edits" default:"true" doc:"Show a reply while it is written, by editing the message."`
	EditIntervalS    float64 `json:"edit_interval_s" default:"1.0" min:"0.5" max:"60" doc:"At least so many seconds between two edits."`
	VoiceReplies     bool    `json:"voice_replies" default:"false" doc:"Answer voice messages by voice."`
	ShowToolActivity bool    `json:"show_tool_activity" default:"true" doc:"Show what Sentient is doing while it works."`
	MemoryScope      string  `json:"memory_scope" default:"personal" format:"scope" doc:"The memories its chats use and save to: personal, work or a project's name."`
}

// Get gives a messaging app's settings by its id.
func (c Channels) Get(id string) (Channel, bool) {
	switch id {
	case "telegram":
		return c.Telegram, true
	case "discord":
		return c.Discord, true
	case "whatsapp":
		return c.Whatsapp, true
	}
	return Channel{}, false
}
