package config

// Config is all settings. JSON names are the wire's and the file's (§2 Config). Tags of a field:
//
//	doc      what it means, a sentence or two for people; shown in Settings
//	default  its default: the text itself for strings, JSON for everything else
//	min max  bounds of a number, both included; for strings and lists maxlen bounds the length
//	enum     the values a string may take, separated by commas ("-" stands for the empty string)
//	format   a check with a name of its own (formats.go)
//	keys     the same for the keys of a map
//	norm     lower: trimmed and lower-cased on save
//	nulls    remove: a null in a PATCH removes the entry (§2 lists these maps)
//
// On a field that is a struct, default holds what differs from the defaults of its fields.
type Config struct {
	Assistant    Assistant    `json:"assistant" doc:"Who Sentient is and whom it works for."`
	Models       Models       `json:"models" doc:"Which AI models answer, with which settings, and what they may cost."`
	Gateway      Gateway      `json:"gateway" doc:"The address at which the engine listens on this computer."`
	Chat         Chat         `json:"chat" doc:"How chats work: history, tools, incognito chats and quick commands."`
	Tools        Tools        `json:"tools" doc:"What Sentient may do, when it asks first, and what it keeps so that a change can be put back."`
	Subagents    Subagents    `json:"subagents" doc:"Helpers that a chat may start, and their limits."`
	UI           UI           `json:"ui" doc:"The look and behaviour of the window."`
	Memory       Memory       `json:"memory" doc:"What Sentient remembers, how it is found again and how long it is kept."`
	Tasks        Tasks        `json:"tasks" doc:"Tasks and routines: limits of a run, catching up, pausing while you are away, tasks by email."`
	Integrations Integrations `json:"integrations" doc:"Connected apps, MCP servers, search and weather services, webhooks."`
	Proactivity  Proactivity  `json:"proactivity" doc:"Suggestions, follow-ups, check-ins and the daily briefs."`
	Skills       Skills       `json:"skills" doc:"Where skills are found and whether new ones wait for your review."`
	Evolution    Evolution    `json:"evolution" doc:"How Sentient learns from finished work and keeps its skills tidy."`
	Voice        Voice        `json:"voice" doc:"Speech in, speech out, the wake word and dictation."`
	Sandbox      Sandbox      `json:"sandbox" doc:"Running small programs that Sentient writes."`
	Browser      Browser      `json:"browser" doc:"The web browser that Sentient can use."`
	Nodes        Nodes        `json:"nodes" doc:"Phones, glasses and other devices paired with Sentient."`
	Channels     Channels     `json:"channels" doc:"Messaging apps: Telegram, Discord and WhatsApp."`
	UserModel    UserModel    `json:"user_model" doc:"What Sentient works out about how you like things done."`
	Dreaming     Dreaming     `json:"dreaming" doc:"The nightly tidying of memories."`
	Backups      Backups      `json:"backups" doc:"Backups and snapshots of everything Sentient keeps."`
	Folders      Folders      `json:"folders" doc:"Folders of your notes and documents that Sentient may read and search."`
	Terminal     Terminal     `json:"terminal" doc:"Running commands on this computer."`
	OpenAIAPI    OpenAIAPI    `json:"openai_api" doc:"An OpenAI-compatible address for other apps on this computer."`
}

// Assistant is who Sentient is and whom it works for.
type Assistant struct {
	Name               string `json:"name" default:"Sentient" minlen:"1" maxlen:"80" doc:"What the assistant is called."`
	UserName           string `json:"user_name" default:"" maxlen:"120" doc:"What the assistant calls you."`
	Timezone           string `json:"timezone" default:"auto" format:"zone" doc:"Your time zone, such as Asia/Kolkata. auto (or empty) is the computer's own."`
	Location           string `json:"location" default:"" maxlen:"200" doc:"Your city, for weather and places. Empty: not said."`
	Language           string `json:"language" default:"en" format:"language" doc:"The language quick commands are tried in first, as a language code such as en or hi."`
	OnboardingComplete bool   `json:"onboarding_complete" default:"false" doc:"First-run setup is done."`
}

// Gateway is where the engine listens.
type Gateway struct {
	Host string `json:"host" default:"127.0.0.1" format:"host" doc:"The address the engine listens on. Anything but this computer's own (127.0.0.1) lets other computers try."`
	Port int    `json:"port" default:"7777" min:"0" max:"65535" doc:"The port the engine listens on. 0 picks a free one."`
}

// Chat is how chats work.
type Chat struct {
	HistoryWindow               int     `json:"history_window" default:"30" min:"2" max:"500" doc:"How many of the newest messages of a chat a model reads word for word once the older part is summarized."`
	CompressAfterMessages       int     `json:"compress_after_messages" default:"60" min:"10" max:"2000" doc:"When so many messages stand after the last summary, the older part of a chat is summarized for the model."`
	ShowThinking                bool    `json:"show_thinking" default:"true" doc:"Show what a model thinks before it answers."`
	AutoTitle                   bool    `json:"auto_title" default:"true" doc:"Give new chats a title by themselves."`
	ToolSelection               string  `json:"tool_selection" default:"auto" enum:"auto,all" doc:"auto offers a model the tools that fit the message; all offers every tool."`
	MaxToolsLocal               int     `json:"max_tools_local" default:"12" min:"1" max:"256" doc:"How many tools a model on this computer is offered at once."`
	MaxToolsCloud               int     `json:"max_tools_cloud" default:"64" min:"1" max:"512" doc:"How many tools a cloud model is offered at once."`
	ToolResultMaxChars          int     `json:"tool_result_max_chars" default:"16000" min:"1500" max:"400000" doc:"The longest tool result a model reads, in characters. Longer ones are kept as a file."`
	ToolResultContextShare      float64 `json:"tool_result_context_share" default:"0.25" min:"0.05" max:"0.9" doc:"The share of the model's context length that one tool result may fill, counted at 3 characters a token."`
	ParallelReadTools           bool    `json:"parallel_read_tools" default:"true" doc:"Run look-ups that need no approval side by side."`
	QuickCommands               bool    `json:"quick_commands" default:"true" doc:"Answer timers, reminders, alarms and the like at once, without a model."`
	MarkOutsideContent          bool    `json:"mark_outside_content" default:"true" doc:"Mark text from outside (web pages, emails, files) for the model as something to read, not to obey."`
	IncognitoUsesMemory         bool    `json:"incognito_uses_memory" default:"true" doc:"Incognito chats may read what Sentient remembers. They never add to it."`
	IncognitoDeleteAfterMinutes int     `json:"incognito_delete_after_minutes" default:"30" min:"1" max:"1440" doc:"An incognito chat with no new message for so many minutes is deleted."`
	AlarmSnoozeMinutes          int     `json:"alarm_snooze_minutes" default:"9" min:"1" max:"60" doc:"How many minutes Snooze gives a ringing alarm."`
}

// UI is the look of the window.
type UI struct {
	Theme          string `json:"theme" default:"dark" enum:"dark,light,system" doc:"Dark, light, or as the system is."`
	Accent         string `json:"accent" default:"sentient" format:"accent" doc:"The accent colour: a name of the design, or a colour such as #3b82f6."`
	LaunchAtLogin  bool   `json:"launch_at_login" default:"false" doc:"Start Sentient when you sign in to this computer."`
	MinimizeToTray bool   `json:"minimize_to_tray" default:"true" doc:"Closing the window keeps Sentient running in the tray."`
}

// Subagents are helpers that a chat may start (§10).
type Subagents struct {
	Enabled        bool    `json:"enabled" default:"true" doc:"Chats may hand parts of the work to helpers."`
	MaxConcurrent  int     `json:"max_concurrent" default:"3" min:"1" max:"10" doc:"How many helpers of one call work side by side."`
	MaxRounds      int     `json:"max_rounds" default:"24" min:"1" max:"200" doc:"The most steps one helper takes."`
	Role           string  `json:"role" default:"executor" enum:"primary,fast,planner,executor" doc:"Which model role the helpers use."`
	TimeoutMinutes int     `json:"timeout_minutes" default:"20" min:"1" max:"240" doc:"The longest one helper works, in minutes."`
	MaxTokens      int     `json:"max_tokens" default:"1000000" min:"0" max:"100000000" doc:"The most tokens one helper uses on cloud models. 0: no limit."`
	MaxCostUSD     float64 `json:"max_cost_usd" default:"2.0" min:"0" max:"1000" doc:"The most one helper spends on cloud models, in US dollars, where the price is known. 0: no limit."`
}

// Skills is where skills come from.
type Skills struct {
	ExtraDirs     []string `json:"extra_dirs" default:"[]" format:"path" doc:"More folders to read skills from. Sentient never writes there."`
	WriteApproval bool     `json:"write_approval" default:"true" doc:"Skills that Sentient writes wait for your review."`
}

// Evolution is learning from finished work (§8, §16).
type Evolution struct {
	ReviewEnabled           bool `json:"review_enabled" default:"true" doc:"Look back at finished chats for something worth keeping as a skill."`
	ReviewIdleMinutes       int  `json:"review_idle_minutes" default:"10" min:"1" max:"1440" doc:"A chat is looked back at when it has been quiet for so many minutes."`
	MinToolCallsForReview   int  `json:"min_tool_calls_for_review" default:"3" min:"1" max:"100" doc:"Only chats with at least so many tool calls are looked back at."`
	CuratorEnabled          bool `json:"curator_enabled" default:"true" doc:"Tidy the skills now and then."`
	CuratorIntervalHours    int  `json:"curator_interval_hours" default:"168" min:"1" max:"8760" doc:"Hours between two tidyings of the skills."`
	StaleAfterDays          int  `json:"stale_after_days" default:"14" min:"1" max:"3650" doc:"A skill unused for so many days counts as stale."`
	ArchiveAfterDays        int  `json:"archive_after_days" default:"30" min:"1" max:"3650" doc:"A stale skill unused for so many days is archived. It can be brought back."`
	CuratorMergeSuggestions bool `json:"curator_merge_suggestions" default:"true" doc:"Suggest joining skills that do the same."`
	UserProfileUpdates      bool `json:"user_profile_updates" default:"true" doc:"Keep your profile file up to date from what was learned."`
	ProfileUpdateHours      int  `json:"profile_update_hours" default:"24" min:"1" max:"8760" doc:"At least so many hours between two updates of your profile."`
	SkillRepair             bool `json:"skill_repair" default:"true" doc:"Propose a repair when a skill failed. It waits for your review."`
	RepairCooldownHours     int  `json:"repair_cooldown_hours" default:"6" min:"0" max:"8760" doc:"At least so many hours between two proposed repairs of one skill."`
}

// Sandbox is running programs that Sentient writes (§11).
type Sandbox struct {
	Enabled              bool    `json:"enabled" default:"true" doc:"Sentient may write and run small programs."`
	Backend              string  `json:"backend" default:"auto" enum:"auto,process,docker" doc:"Where they run: as a process on this computer, in Docker, or whichever fits."`
	TimeoutS             int     `json:"timeout_s" default:"120" min:"1" max:"3600" doc:"The longest a program runs, in seconds."`
	MaxOutputChars       int     `json:"max_output_chars" default:"20000" min:"500" max:"1000000" doc:"The longest output kept, in characters, of standard output and of errors each."`
	MaxToolCalls         int     `json:"max_tool_calls" default:"200" min:"0" max:"10000" doc:"How many of Sentient's tools one program may call."`
	MaxConcurrentRuns    int     `json:"max_concurrent_runs" default:"2" min:"1" max:"16" doc:"How many programs run side by side."`
	MaxFiles             int     `json:"max_files" default:"50" min:"0" max:"1000" doc:"How many files of one run are kept."`
	MaxFileMB            int     `json:"max_file_mb" default:"25" min:"1" max:"1024" doc:"The largest file of a run that is kept, in MB."`
	KeepWorkdirs         bool    `json:"keep_workdirs" default:"false" doc:"Keep the working folders of runs, to look into them. Otherwise they are removed afterwards."`
	DockerImage          string  `json:"docker_image" default:"python:3.12-slim" minlen:"1" maxlen:"255" doc:"The image programs run in with Docker."`
	DockerMemoryMB       int     `json:"docker_memory_mb" default:"512" min:"64" max:"65536" doc:"Memory for a program in Docker, in MB."`
	DockerCPUs           float64 `json:"docker_cpus" default:"1" min:"0.1" max:"64" doc:"Processors for a program in Docker."`
	AllowNetworkInDocker bool    `json:"allow_network_in_docker" default:"false" doc:"Programs in Docker may reach the network."`
}

// Nodes are paired devices (§13).
type Nodes struct {
	Enabled                bool `json:"enabled" default:"true" doc:"Devices can be paired and used."`
	LANEnabled             bool `json:"lan_enabled" default:"false" doc:"Listen for paired devices on the home network."`
	LANPort                int  `json:"lan_port" default:"7778" min:"1" max:"65535" doc:"The port for devices on the home network."`
	LANBindAll             bool `json:"lan_bind_all" default:"false" doc:"Listen for devices on every network connection of this computer. Off: on this computer only, so phones cannot reach it. Off unless you choose it, because everybody on those networks can then try to connect."`
	MDNSEnabled            bool `json:"mdns_enabled" default:"true" doc:"Announce Sentient on the home network so that devices find it."`
	CameraRequiresApproval bool `json:"camera_requires_approval" default:"true" doc:"Ask before a device takes a photo."`
	AllowDesktopScreen     bool `json:"allow_desktop_screen" default:"true" doc:"Sentient may ask to see this computer's screen."`
	InvokeTimeoutS         int  `json:"invoke_timeout_s" default:"20" min:"1" max:"300" doc:"How long to wait for a device to answer, in seconds."`
	IdleTimeoutS           int  `json:"idle_timeout_s" default:"180" min:"30" max:"3600" doc:"A device silent for so many seconds is disconnected."`
}

// UserModel is what is worked out about the person (§15).
type UserModel struct {
	Enabled              bool    `json:"enabled" default:"true" doc:"Work out from chats how you like things done. You can read and correct all of it."`
	Role                 string  `json:"role" default:"fast" enum:"primary,fast,planner,executor" doc:"Which model role does this."`
	RefreshAfterTurns    int     `json:"refresh_after_turns" default:"12" min:"1" max:"1000" doc:"Look again after so many replies."`
	MinRefreshHours      float64 `json:"min_refresh_hours" default:"24" min:"0" max:"8760" doc:"At least so many hours between two looks."`
	MaxOperations        int     `json:"max_operations" default:"8" min:"1" max:"100" doc:"The most changes one look makes."`
	MaxActiveInsights    int     `json:"max_active_insights" default:"80" min:"1" max:"1000" doc:"How many insights are kept active."`
	MaxOpenQuestions     int     `json:"max_open_questions" default:"5" min:"0" max:"100" doc:"How many questions may wait for your answer."`
	SupportStep          float64 `json:"support_step" default:"0.1" min:"0" max:"1" doc:"How much surer an insight becomes each time something speaks for it."`
	ContradictStep       float64 `json:"contradict_step" default:"0.2" min:"0" max:"1" doc:"How much less sure it becomes each time something speaks against it."`
	DisputeBelow         float64 `json:"dispute_below" default:"0.35" min:"0" max:"1" doc:"An insight less sure than this is disputed, and you are asked."`
	ContextMaxChars      int     `json:"context_max_chars" default:"600" min:"0" max:"10000" doc:"How much of it a model reads with a message, in characters."`
	ContextMinSimilarity float64 `json:"context_min_similarity" default:"0.7" min:"0" max:"1" doc:"How close to the message an insight must be to be read with it."`
	RecentMessages       int     `json:"recent_messages" default:"30" min:"1" max:"500" doc:"How many of your newest messages one look reads."`
	RecentFacts          int     `json:"recent_facts" default:"25" min:"0" max:"500" doc:"How many of the newest memories one look reads."`
	RecentSummaries      int     `json:"recent_summaries" default:"5" min:"0" max:"100" doc:"How many of the newest chat summaries one look reads."`
}

// Dreaming is the nightly tidying of memories (§15).
type Dreaming struct {
	Enabled                 bool    `json:"enabled" default:"true" doc:"Tidy memories at night: join doubles, settle contradictions."`
	Time                    string  `json:"time" default:"03:00" format:"clock" doc:"From which time of day on, as HH:MM."`
	RequireIdleMinutes      int     `json:"require_idle_minutes" default:"30" min:"0" max:"1440" doc:"Only when there was no chat for so many minutes."`
	Role                    string  `json:"role" default:"fast" enum:"primary,fast,planner,executor" doc:"Which model role does this."`
	MaxFacts                int     `json:"max_facts" default:"500" min:"10" max:"10000" doc:"How many memories one night looks at."`
	MaxModelCalls           int     `json:"max_model_calls" default:"20" min:"0" max:"500" doc:"How often one night asks the model. Half of it at most goes to joining memories in two languages."`
	MergeSimilarity         float64 `json:"merge_similarity" default:"0.9" min:"0" max:"1" doc:"How alike two memories must be to be joined."`
	MergeMinOverlap         float64 `json:"merge_min_overlap" default:"0.6" min:"0" max:"1" doc:"The share of words two memories must have in common to be joined."`
	ContradictionSimilarity float64 `json:"contradiction_similarity" default:"0.5" min:"0" max:"1" doc:"How alike two memories must be to be checked for a contradiction."`
	MergeLanguages          bool    `json:"merge_languages" default:"true" doc:"Keep a memory saved in two languages only once."`
	LanguageMergeSimilarity float64 `json:"language_merge_similarity" default:"0.7" min:"0" max:"1" doc:"How alike memories in two languages must be to be compared, with a multilingual embedding model."`
	PromoteMinRecalls       int     `json:"promote_min_recalls" default:"3" min:"1" max:"100" doc:"A short-term memory recalled so often is kept for good."`
	RefreshUserModel        bool    `json:"refresh_user_model" default:"true" doc:"Also look again at how you like things done."`
	Notify                  bool    `json:"notify" default:"true" doc:"Tell you in the morning when something changed."`
}

// Backups are copies of everything (§20).
type Backups struct {
	Folder        string `json:"folder" default:"" format:"path" doc:"Where backups go. Empty: Sentient Backups in your Documents."`
	Schedule      string `json:"schedule" default:"off" enum:"off,daily,weekly" doc:"Make backups by themselves. Off until you choose it, because Documents may be a folder that a sync service copies to the cloud; snapshots before updates are made either way."`
	Keep          int    `json:"keep" default:"5" min:"1" max:"365" doc:"How many scheduled backups are kept. Backups made by hand are never deleted. Five weeks or days reach back far enough to notice a mistake, without filling the disk."`
	SnapshotsKeep int    `json:"snapshots_keep" default:"5" min:"1" max:"100" doc:"How many snapshots (backups without files, made before updates and imports) are kept."`
}

// Folders are notes folders and vaults (§22).
type Folders struct {
	Ignore              []string `json:"ignore" default:"[\"node_modules/\",\"__pycache__/\",\"*.tmp\"]" doc:"What is left out in every folder. name/ is a folder anywhere, a/b/ that folder, anything else a pattern. The default leaves out what programs make."`
	MaxFileMB           int      `json:"max_file_mb" default:"20" min:"1" max:"500" doc:"The largest file that is read, in MB. 20 holds any note and most books, and keeps scans of whole archives out."`
	MaxFiles            int      `json:"max_files" default:"10000" min:"10" max:"1000000" doc:"The most files read in one folder. 10,000 holds a large vault on an ordinary computer."`
	ChunkChars          int      `json:"chunk_chars" default:"1200" min:"200" max:"8000" doc:"About how long the pieces are in which notes are searched, in characters. 1,200 is a few paragraphs and fits every embedding model."`
	Watch               bool     `json:"watch" default:"true" doc:"Notice changed files at once."`
	RescanMinutes       int      `json:"rescan_minutes" default:"60" min:"1" max:"10080" doc:"Look through all folders again every so many minutes, for drives that do not tell of changes. An hour costs next to nothing."`
	Results             int      `json:"results" default:"6" min:"1" max:"20" doc:"How many pieces one search gives. Six fit a small local model's context."`
	PromptNotes         int      `json:"prompt_notes" default:"3" min:"0" max:"10" doc:"How many pieces that clearly match a message are read with it. 0 turns this off."`
	PromptNoteChars     int      `json:"prompt_note_chars" default:"320" min:"80" max:"4000" doc:"How long each of these pieces is, in characters."`
	PromptMinSimilarity float64  `json:"prompt_min_similarity" default:"0.55" min:"0" max:"1" doc:"How close to the message such a piece must be."`
	ClippingsAreOutside bool     `json:"clippings_are_outside" default:"true" doc:"Web pages clipped into your notes count as outside content."`
}

// Terminal is running commands on this computer (§18).
type Terminal struct {
	Enabled         bool     `json:"enabled" default:"false" doc:"Sentient may run commands on this computer."`
	AllowedFolders  []string `json:"allowed_folders" default:"[]" format:"path" doc:"The folders commands may run in. Nothing runs until one is added."`
	DefaultFolder   string   `json:"default_folder" default:"" format:"path" doc:"The folder commands run in when none is named. Empty: the first allowed folder."`
	AllowedCommands []string `json:"allowed_commands" default:"[\"git status\",\"git diff\",\"git log\",\"ls\",\"dir\",\"pwd\"]" minlen:"1" maxlen:"200" doc:"Commands that start like this run without asking, unless they chain or redirect."`
	TimeoutS        int      `json:"timeout_s" default:"180" min:"5" max:"3600" doc:"The longest a command runs, in seconds."`
	MaxOutputChars  int      `json:"max_output_chars" default:"8000" min:"500" max:"1000000" doc:"The longest output kept, in characters, of standard output and of errors each."`
}

// OpenAIAPI is the OpenAI-compatible address (§2).
type OpenAIAPI struct {
	Enabled     bool `json:"enabled" default:"false" doc:"Other apps on this computer may chat with Sentient with an OpenAI client and a key you make."`
	AllowMemory bool `json:"allow_memory" default:"false" doc:"These apps may use what Sentient remembers about you, past chats included."`
}
