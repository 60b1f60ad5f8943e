package preview

import (
	"slices"
	"strings"
	"unicode"

	"sentient/backend/tool"
)

// set makes a set of the words of a text.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

var (
	// sending words say by themselves that something goes to others.
	sending = set("send resend reply respond forward fwd publish tweet retweet toot repost broadcast announce dm")
	// naming words are a verb or the thing itself: post a comment, delete a post.
	naming = set("post comment")
	// others are verbs after which a name speaks of a thing and sends nothing.
	others = set(`get list fetch search find read retrieve query view describe lookup count check show download export
		delete remove erase destroy purge trash recycle archive restore untrash recover undelete unarchive unsend undo cancel
		update edit modify change set move rename mark label pin unpin react star save mute block schedule preview validate hide close lock`)
	mailWords    = set("email emails mail mails gmail outlook imap smtp sendgrid mailgun postmark fastmail protonmail zoho_mail inbox newsletter")
	messageWords = set(`message messages msg dm chat sms mms text whatsapp telegram discord slack teams signal mattermost imessage twilio
		messenger matrix rocketchat zulip line wechat viber`)
	publicWords = set(`twitter x mastodon bluesky linkedin reddit facebook instagram threads tumblr wordpress medium ghost blog github gitlab jira
		linear notion confluence asana trello youtube tiktok post posts comment comments tweet tweets hackernews`)
	// notMessages are what a tool can send that no person reads.
	notMessages = set(`command commands key keys keystroke keystrokes request requests signal event events input payment payments money transfer
		crypto funds click webhook http ping magic packet code otp`)

	deleting  = set("delete remove erase destroy purge")
	trashing  = set("trash recycle")
	restoring = set("restore untrash recover undelete unarchive")
)

// Words gives the words of a tool's name or an argument's key, in lower case: gmail_send, GMAIL_SEND_EMAIL, toRecipients.
func Words(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}

// Deletes reports whether a name's words say that something is deleted for good.
func Deletes(words []string) bool {
	for i, w := range words {
		if deleting[w] && (i == 0 || words[i-1] != "soft") {
			return true
		}
	}
	return false
}

// Trashes reports whether a name's words say that something is moved to where it can be restored from.
func Trashes(words []string) bool {
	if Deletes(words) || Restores(words) || slices.Contains(words, "empty") {
		return false
	}
	for i, w := range words {
		if trashing[w] || w == "delete" && i > 0 && words[i-1] == "soft" {
			return true
		}
	}
	return false
}

// Restores reports whether a name's words say that something comes back.
func Restores(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return restoring[w] })
}

// Kind gives which of email, message and post a call is, by the send verb in its tool's name; "" for none of them
// (`preview.action_kind`).
func Kind(t *tool.Tool, risk tool.Risk) string {
	if t == nil {
		return ""
	}
	return sendKind(Words(t.Name), risk)
}

// Waits reports whether the undo window is for such a call (§10 "Undo window"): an email, message or post of effective
// risk write or send. Purchases and code never wait, nor does what stays inside Sentient.
func Waits(t *tool.Tool, risk tool.Risk, w tool.Wording) bool {
	return t != nil && !t.Internal && (risk == tool.Write || risk == tool.Send) && w.RiskLabel != "Purchase" && Kind(t, risk) != ""
}

func sendKind(words []string, risk tool.Risk) string {
	verb := sendVerb(words)
	if verb == "" || risk <= tool.Read || risk > tool.Exec {
		return ""
	}
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return set[w] })
	}
	switch {
	case has(mailWords):
		return "email"
	case has(messageWords):
		return "message"
	case verb == "send" && has(notMessages):
		return ""
	case naming[verb] || verb == "publish" || verb == "tweet" || verb == "retweet" || verb == "toot" || verb == "repost" || has(publicWords):
		return "post"
	}
	return "message"
}

// sendVerb gives the word of a name that sends: the first verb in it decides. A draft is only sent by "send".
func sendVerb(words []string) string {
	draft := slices.Contains(words, "draft") || slices.Contains(words, "drafts")
	noun := ""
	for _, w := range words {
		switch {
		case sending[w] && (!draft || w == "send"):
			return w
		case others[w]:
			return ""
		case naming[w] && noun == "" && !draft:
			noun = w // "post_delete" is still to be told from "post_message"
		}
	}
	return noun
}
