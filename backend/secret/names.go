package secret

import (
	"regexp"
	"slices"
	"strings"

	"sentient/backend/errs"
)

// Kind says what a secret is for (§3, GET /api/secrets).
type Kind string

// The kinds on the wire.
const (
	Provider    Kind = "provider"
	Integration Kind = "integration"
)

// Name is one secret that a person may set.
type Name struct {
	Name string
	Kind Kind
	Env  string // the environment variable that may hold it instead; "" when none
	Sign bool   // a sign-in, never a pasted key
}

// Names are the secrets of GET /api/secrets, in its order: providers by their id, connected apps as integration:<id>,
// messaging apps as channel_<id>_token. Google's apps share one client, integration:google (§5).
func Names() []Name { return slices.Clone(table) }

// table is never changed.
var table = []Name{
	key("openai"), key("anthropic"), key("gemini"), key("openrouter"), key("groq"), key("mistral"), key("deepseek"),
	key("xai"), key("nous"), {Name: "chatgpt", Kind: Provider, Sign: true}, key("deepgram"), key("elevenlabs"),
	app("google"), app("gmail"), app("gcalendar"), app("gdocs"), app("gdrive"), app("gpeople"), app("gsheets"),
	app("gslides"), app("github"), app("notion"), app("slack"), app("trello"), app("discord"), app("email_imap"),
	app("home_assistant"), app("accuweather"), app("newsapi"), app("brave_search"), app("google_cse"), app("google_maps"),
	{Name: "channel_telegram_token", Kind: Integration}, {Name: "channel_discord_token", Kind: Integration},
}

func key(id string) Name {
	return Name{Name: id, Kind: Provider, Env: strings.ToUpper(id) + "_API_KEY"}
}

func app(id string) Name { return Name{Name: "integration:" + id, Kind: Integration} }

func find(name string) (Name, bool) {
	for _, n := range table {
		if n.Name == name {
			return n, true
		}
	}
	return Name{}, false
}

// The engine's own entries beside the table: MCP servers' (mcp:<server>…), the key of the OpenAI-compatible API, the
// token of `sentient mcp`, and those of apps and messaging apps that are not in the table.
var (
	own   = regexp.MustCompile(`^(mcp:[^\pC]{1,200}|mcp-server-token|openai_api_key|integration:[a-z0-9_:.-]{1,80}|channel_[a-z0-9_]{1,40}_token)$`)
	piece = regexp.MustCompile(`^(.*):[0-9]+$`)
)

// known refuses a name that is nobody's, and one that another name's pieces would take.
func known(name string) error {
	if _, ok := find(name); ok {
		return nil
	}
	if own.MatchString(name) {
		if m := piece.FindStringSubmatch(name); m == nil || !own.MatchString(m[1]) {
			return nil
		}
	}
	return unknown()
}

func unknown() *errs.Error {
	return errs.New(errs.NotFound, "secret_unknown", "There is no key with this name. Choose one of the listed providers or apps.")
}
