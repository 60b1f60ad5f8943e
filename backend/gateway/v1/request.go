package v1

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sentient/backend/errs"
)

// The limits of a request. Apps send the whole conversation each time, pictures included, and only its last message is
// used: the body may be far larger than a message.
const (
	maxBody     = 16 << 20 // bytes
	maxText     = 1_000_000
	maxUser     = 200 // characters of a chat's name
	bodyTimeout = 30 * time.Second
)

// asked is what of a request counts.
type asked struct {
	text string
	user string
	wanted
}

// wanted is how the answer is to come.
type wanted struct {
	stream bool
	usage  bool // a stream ends with what the turn took (stream_options.include_usage)
}

// body reads a request's body within its size and time.
func (h *handler) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(h.Clock.Now().Add(bodyTimeout)) // where a connection has none, the size still bounds it
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, malformedf("The request is larger than the %d MB that Sentient takes. Send less of the conversation: Sentient keeps it itself.", maxBody>>20).Because(err)
	}
	if err != nil {
		return nil, malformedf("The request did not arrive whole.").Because(err)
	}
	_ = control.SetReadDeadline(time.Time{})
	return raw, nil
}

func malformedf(format string, args ...any) *errs.Error {
	return errs.Newf(errs.Malformed, "invalid_request", format, args...)
}

func badMember(name, sentence string) *errs.Error {
	return malformedf("%s", sentence).WithFields(errs.Field{Loc: []string{name}, Msg: sentence, Type: "invalid"})
}

// parse reads a body. Members that nobody asked for (temperature, tools, other messages' content …) may be anything.
func parse(raw []byte) (a asked, err error) {
	var members map[string]json.RawMessage // by exact name, which a struct's members are not
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return a, malformedf("The request's body is not a JSON object.")
	}
	options := map[string]json.RawMessage{}
	named := ""
	for _, m := range []struct {
		name, sentence string
		into           any
	}{
		{"model", "“model” has to be a text.", &named},
		{"stream", "“stream” has to be true or false.", &a.stream},
		{"stream_options", "“stream_options” has to be an object.", &options},
		{"user", "“user” has to be a text.", &a.user},
	} {
		if value, ok := members[m.name]; ok && json.Unmarshal(value, m.into) != nil {
			return a, badMember(m.name, m.sentence)
		}
	}
	if value, ok := options["include_usage"]; ok && json.Unmarshal(value, &a.usage) != nil {
		return a, badMember("stream_options", "“include_usage” has to be true or false.")
	}
	if a.user, err = chatName(a.user); err != nil {
		return a, err
	}
	a.text, err = lastWords(members["messages"])
	return a, err
}

// chatName gives the name of the chat that a user has: the user itself.
func chatName(user string) (string, error) {
	switch {
	case strings.TrimSpace(user) == "":
		return usualName, nil
	case utf8.RuneCountInString(user) > maxUser || strings.ContainsFunc(user, unseen):
		return "", badMember("user", "“user” names a chat: it has to be one line of at most 200 characters.")
	}
	return user, nil
}

// unseen are the characters that a name can't have: controls, line breaks and what turns the direction of text.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == utf8.RuneError
}

// lastWords gives the text of the last message of the user.
func lastWords(messages json.RawMessage) (string, error) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(messages, &list) != nil || list == nil {
		return "", badMember("messages", "“messages” has to be a list of messages.")
	}
	last := -1
	for i, m := range list {
		var role string
		if json.Unmarshal(m["role"], &role) != nil || role == "" {
			return "", badMember("messages", "Each message has to have a “role”.")
		}
		if role == "user" {
			last = i
		}
	}
	if last < 0 {
		return "", errNoUserMessage()
	}
	text, err := textOf(list[last]["content"])
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(text) == "":
		return "", errNoUserMessage()
	case utf8.RuneCountInString(text) > maxText:
		return "", badMember("messages", "The message is longer than the million characters that Sentient takes.")
	}
	return text, nil
}

func errNoUserMessage() *errs.Error {
	return errs.New(errs.Malformed, "no_user_message", "There is no message of the user with a text in it.").
		WithFields(errs.Field{Loc: []string{"messages"}, Type: "missing"})
}

// textOf gives the text of a content, which is a text, a list of parts or nothing. Parts of text stand below each other;
// others (pictures, sound) are left out.
func textOf(content json.RawMessage) (string, error) {
	if len(content) == 0 {
		return "", nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil { // null is no text
		return text, nil
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return "", badMember("messages", "A message's “content” has to be a text or a list of parts.")
	}
	var texts []string
	for _, p := range parts {
		var kind, text string
		if json.Unmarshal(p["type"], &kind) != nil || kind == "text" && json.Unmarshal(p["text"], &text) != nil {
			return "", badMember("messages", "Each part of a message's “content” has to have a “type”, and one of type “text” a “text”.")
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n"), nil
}
