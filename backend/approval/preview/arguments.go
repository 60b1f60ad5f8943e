package preview

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// labels say what the value of a key is, by the key's words joined with _. Keys of several words that are not here are
// told by their parts (Label).
var labels = func() map[string]string {
	out := map[string]string{}
	for label, keys := range map[string]string{
		"To": `to recipient recipients receiver receivers attendee attendees guest guests invitee invitees participant participants email emails
			email_address email_addresses phone phones phone_number phone_numbers mobile mobile_number tel telephone contact contacts
			to_email to_emails to_address to_addresses to_number to_numbers to_phone to_user to_users to_name to_list msisdn jid
			send_to share_with shared_with forward_to collaborator collaborators member members invite invites payee beneficiary
			destination destinations dest target_email target_phone addressee addressees mailto user_email user_emails assignee_email`,
		"Cc":  `cc ccs carbon_copy cc_email cc_emails cc_list`,
		"Bcc": `bcc bccs blind_copy bcc_email bcc_emails bcc_list`,
		"Where": `channel channel_id channel_name chat chat_id chat_name thread thread_id thread_ts conversation conversation_id room room_id
			repo repository repo_name group group_id group_name server guild guild_id parent parent_id database_id board board_id list_id project
			project_id folder folder_id calendar calendar_id page_id issue_number issue_id pull_number subreddit workspace team location space
			where message_id post_id url`,
		"Subject": "subject title headline summary subject_line name",
		"Files":   "attachment attachments file files file_path file_paths file_name filename image images media document documents photo video",
		"Amount":  "amount price total cost fee sum tip donation bid budget salary",
		"Body": `body text message content html html_body body_html body_text comment note description markdown markdown_text caption status
			tweet msg message_body message_text plain_text text_body reply post contents`,
	} {
		for _, key := range strings.Fields(keys) {
			out[key] = label
		}
	}
	return out
}()

var (
	recipientParts = set("recipient recipients receiver attendee attendees guest guests invitee invitees addressee phone mobile msisdn bcc cc")
	amountParts    = set("amount price cost fee total sum salary")
	// counted words make a total a number of things, not of money.
	counted = set("count results result pages page items item rows tokens bytes size number users files messages id ids type currency method status")
	notTo   = set("name type status count id ids date time limit message format only index")
)

// Label says what an argument holds, by its key in any of the usual spellings: To, Cc, Bcc, Where, Subject, Files, Amount,
// Body, or "" when the key does not say.
func Label(key string) string {
	words := Words(key)
	if label := labels[strings.Join(words, "_")]; label != "" {
		return label
	}
	if len(words) < 2 {
		return ""
	}
	if slices.ContainsFunc(words, func(w string) bool { return amountParts[w] }) && !slices.ContainsFunc(words, func(w string) bool { return counted[w] }) {
		return "Amount"
	}
	if notTo[words[len(words)-1]] {
		return ""
	}
	for _, w := range words {
		switch {
		case w == "bcc":
			return "Bcc"
		case w == "cc":
			return "Cc"
		case recipientParts[w]:
			return "To"
		}
	}
	return ""
}

// object reads arguments with their numbers as they are written.
func object(args json.RawMessage) (map[string]any, bool) {
	if len(bytes.TrimSpace(args)) == 0 {
		return map[string]any{}, true
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var out map[string]any
	return out, d.Decode(&out) == nil
}

// keysOf gives an object's keys in one order, so that the same call always looks the same.
func keysOf(o map[string]any) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// running gives the name and the arguments of what a call really runs: those of the first action of a tool that runs
// others by their slug (§5), and how many there are; otherwise the call's own.
func running(name string, top map[string]any) (string, map[string]any, int) {
	if slug, inner, ok := action(top); ok {
		return slug, inner, 1
	}
	for _, key := range keysOf(top) {
		list, ok := top[key].([]any)
		if !ok || len(list) == 0 {
			continue
		}
		if first, ok := list[0].(map[string]any); ok {
			if slug, inner, ok := action(first); ok {
				return slug, inner, len(list)
			}
		}
	}
	return name, top, 1
}

func action(o map[string]any) (slug string, args map[string]any, ok bool) {
	for _, key := range []string{"tool_slug", "action_slug", "slug"} {
		if slug, ok = o[key].(string); !ok || slug == "" {
			continue
		}
		switch v := o["arguments"].(type) {
		case map[string]any:
			return slug, v, true
		case string:
			if args, ok = object(json.RawMessage(v)); ok {
				return slug, args, true
			}
		}
	}
	return "", nil, false
}

// found are the values of a call by their label.
type found struct {
	values   map[string][]string
	seen     map[[2]string]bool // label and value
	currency string
	acts     bool     // it deletes or buys: what no label names is what it acts on
	rest     []string // that
}

func collect(values map[string]any, acts bool) *found {
	f := &found{values: map[string][]string{}, seen: map[[2]string]bool{}, acts: acts}
	f.walk(values)
	return f
}

// actedOn are keys that say where a message goes, and of a delete say what it deletes.
var actedOn = set("message_id thread_id page_id issue_id issue_number pull_number post_id url")

func (f *found) labelOf(key string) string {
	label := Label(key)
	if f.acts && (label == "Subject" || label == "Files" || label == "Where" && actedOn[key]) {
		return "Item"
	}
	return label
}

func (f *found) walk(o map[string]any) {
	// A list of named values, as mail headers are: {"name": "To", "value": "…"}.
	if name, isName := o["name"].(string); isName && o["value"] != nil && Label(name) != "" {
		f.take(Label(name), o["value"])
		return
	}
	for _, key := range keysOf(o) {
		if c, ok := o[key].(string); ok && (key == "currency" || key == "currency_code") {
			f.currency = c
			continue
		}
		label := f.labelOf(key)
		if _, isObject := o[key].(map[string]any); isObject && label != "To" && label != "Cc" && label != "Bcc" {
			label = "" // "message" may be the whole mail: its members say what they are
		}
		if label != "" {
			f.take(label, o[key])
			continue
		}
		switch v := o[key].(type) {
		case map[string]any:
			f.walk(v)
		case []any:
			for _, inner := range v {
				if member, ok := inner.(map[string]any); ok {
					f.walk(member)
				} else if text, ok := scalar(inner); ok && f.acts {
					f.rest = append(f.rest, text)
				}
			}
		default:
			if _, yesNo := v.(bool); yesNo {
				continue
			}
			if text, ok := scalar(v); ok && f.acts && text != "" {
				f.rest = append(f.rest, text)
			}
		}
	}
}

// take adds every value below a labelled key. Of an object that stands for a person the address alone is shown: a name
// beside it is the sender's choice and proves nothing.
func (f *found) take(label string, value any) {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			f.take(label, inner)
		}
	case map[string]any:
		before := len(f.values[label])
		for _, key := range keysOf(v) {
			if text, ok := v[key].(string); ok && (Label(key) == "To" || key == "address" || key == "value" || key == "path" || key == "url") {
				f.add(label, text)
			} else if inner, ok := v[key].(map[string]any); ok {
				f.take(label, inner)
			} else if inner, ok := v[key].([]any); ok {
				f.take(label, inner)
			}
			if strings.Contains(key, "@") {
				f.add(label, key) // {"to": {"x@evil.example": "X"}}
			}
		}
		for _, key := range []string{"name", "filename", "text", "content", "id"} {
			if text, ok := scalar(v[key]); ok && text != "" && len(f.values[label]) == before {
				f.add(label, text)
			}
		}
	default:
		if _, yesNo := v.(bool); yesNo {
			return
		}
		if text, ok := scalar(v); ok {
			f.add(label, text)
		}
	}
}

func (f *found) add(label, value string) {
	if value = strings.TrimSpace(value); value != "" && !f.seen[[2]string{label, value}] {
		f.seen[[2]string{label, value}] = true
		f.values[label] = append(f.values[label], value)
	}
}

// item fills what a delete or a purchase acts on: what no label names, else how the call is worded.
func (f *found) item(target string) {
	for _, text := range f.rest {
		f.add("Item", text)
	}
	if len(f.values["Item"]) == 0 {
		f.add("Item", target)
	}
}
