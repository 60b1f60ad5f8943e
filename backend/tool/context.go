package tool

// Context is what a call knows of the run that makes it. The loop makes one a call.
type Context struct {
	SessionID string // the chat; "" outside one
	TurnID    string
	CallID    string
	Channel   string // desktop, api, voice, telegram …
	Origin    string // "user", or which work nobody asked for it is (§10)
	Incognito bool
	Memory    bool     // it may use what Sentient knows about the person (§10 "Turns without memory")
	Untrusted string   // what outside content the run has read, "" when clean
	Visited   []string // web hosts the run has loaded
	UserWords []string // what the person wrote in this chat, newest last, nothing from outside
	// ResultLimit is how many characters of a result the model reads; 0: unknown. A tool that gives a part sizes it so.
	ResultLimit int
	// Progress tells what a long call is doing. It may be called from any goroutine, and after the call has ended, when it
	// does nothing. It is never nil in a call that the loop makes.
	Progress func(Progress)
}

// Progress is one piece of what a running call shows (§10 `tool_progress`).
type Progress struct {
	Kind  string         `json:"kind" enum:"stdout,stderr,status,frame,subagent"`
	Text  string         `json:"text,omitempty"`
	Image string         `json:"image,omitempty" doc:"a data URL"`
	Data  map[string]any `json:"data,omitempty"`
}

// Tell tells progress where somebody listens.
func (c *Context) Tell(p Progress) {
	if c != nil && c.Progress != nil {
		c.Progress(p)
	}
}

// Source is a page, mail, file or app that a reply used (§2 "Answer sources").
type Source struct {
	Kind    string   `json:"kind" enum:"web,email,file,app"`
	Title   string   `json:"title"`
	URL     string   `json:"url,omitempty"`
	File    string   `json:"file,omitempty"`
	Path    string   `json:"path,omitempty"`
	Folder  string   `json:"folder,omitempty"`
	From    string   `json:"from,omitempty"`
	ID      string   `json:"id,omitempty"`
	Snippet string   `json:"snippet,omitempty"`
	App     string   `json:"app"`
	Tool    string   `json:"tool"`
	Tools   []string `json:"tools,omitempty"`
	Via     string   `json:"via,omitempty" enum:"prompt"`
	// Shown is a piece of the result's JSON that the model must have read for the source to count; "": it always does.
	Shown string `json:"-"`
}

// MemorySource is a memory that a reply had in mind (§2 "Memory sources").
type MemorySource struct {
	Kind   string `json:"kind" enum:"fact,insight"`
	ID     any    `json:"id"` // a number for a fact, a string for an insight
	Text   string `json:"text"`
	Source string `json:"source"`
	Via    string `json:"via" enum:"prompt,tool"`
	// Shown is a piece of the result's JSON that the model must have read for the memory to count; "": it always does.
	Shown string `json:"-"`
}
