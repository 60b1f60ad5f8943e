package outside

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// What a call's name says it does. A look-up's verb first means that it only looks.
var (
	looks  = words("get list search find read fetch check count view describe show lookup query preview download export")
	undoes = words("restore undelete untrash recover")
	// destroys take away or overwrite; opens change who has access.
	destroys = words("delete remove erase destroy purge wipe trash recycle discard drop clear empty overwrite replace truncate reset prune unlink rm del flush")
	opens    = words("share unshare invite uninvite revoke grant permission permissions transfer collaborator collaborators ban kick publicize visibility acl owner ownership")
)

// Arguments that make a call destructive whatever its name, with the values that do ("" for any but no or nothing).
var destructiveArgs = map[string]map[string]bool{
	"overwrite": nil, "replace_existing": nil, "replaceexisting": nil, "force_delete": nil, "permanently": nil, "permanent": nil, "delete": nil, "truncate": nil,
	"permission": nil, "permissions": nil, "share_with": nil, "shared_with": nil, "sharewith": nil, "visibility": nil, "access_level": nil, "make_public": nil, "is_public": nil, "public": nil, "new_owner": nil, "collaborators": nil,
	"method": words("delete"), "http_method": words("delete"), "mode": words("overwrite replace w wb truncate"), "action": union(destroys, opens), "operation": union(destroys, opens), "op": union(destroys, opens),
}

var destructiveSQL = regexp.MustCompile(`(?i)\b(delete\s+from|drop\s+(table|database|index|view|schema)|truncate\s+table|grant\s+\w+|revoke\s+\w+|update\s+\S+\s+set|replace\s+into)\b`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, s := range sets {
		for w := range s {
			all[w] = true
		}
	}
	return all
}

// Destructive reports whether a call deletes, overwrites or changes who has access (decision 10), by its name and its
// arguments; a tool that runs others by their slug counts by those. Arguments that cannot be read count.
func Destructive(name string, args json.RawMessage) bool {
	if destructiveName(name) {
		return true
	}
	if len(bytes.TrimSpace(args)) == 0 {
		return false
	}
	var value any
	if json.Unmarshal(args, &value) != nil {
		return true
	}
	return destructiveValue(value, isLook(name), 0)
}

func isLook(name string) bool {
	for _, w := range nameWords(name) {
		switch {
		case looks[w]:
			return true
		case destroys[w], opens[w]:
			return false
		}
	}
	return false
}

func destructiveName(name string) bool {
	all := nameWords(name)
	if isLook(name) {
		return false
	}
	for _, w := range all {
		if undoes[w] {
			return false
		}
	}
	for _, w := range all {
		if destroys[w] || opens[w] || destroys[strings.TrimSuffix(w, "s")] || opens[strings.TrimSuffix(w, "s")] {
			return true
		}
	}
	return false
}

const deepest = 32 // nested values

func destructiveValue(v any, look bool, depth int) bool {
	if depth > deepest {
		return true
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if destructiveValue(e, look, depth+1) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if destructiveArg(strings.ToLower(key), e, look) || destructiveValue(e, look, depth+1) {
				return true
			}
		}
	}
	return false
}

func destructiveArg(key string, v any, look bool) bool {
	text, _ := v.(string)
	text = strings.ToLower(strings.TrimSpace(text))
	switch key {
	case "tool_slug", "slug", "tool", "tool_name", "function":
		return destructiveName(text)
	case "sql", "query", "statement":
		return destructiveSQL.MatchString(text)
	}
	values, known := destructiveArgs[key]
	switch {
	case !known:
		return false
	case values != nil:
		return values[text]
	case look: // a look-up's "public": true is a filter
		return false
	}
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return text != "" && text != "false" && text != "no" && text != "none" && text != "private"
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// nameWords gives the words of a tool's name or slug: "gmail_deleteEmail" has gmail, delete and email.
func nameWords(name string) []string {
	var all []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			all = append(all, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
		before = r
	}
	end()
	return all
}

// Names reports whether the person's own words name everything that a call acts on: a file by its name, with or without
// its ending or its folder, a title, an id, an address (decision 10). words are the person's messages; without targets
// nothing is named. A target is named where it stands as a whole: "report.pdf" names neither "report.docx" nor "old-report.pdf".
func Names(words []string, targets []string) bool {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = spoken(w)
	}
	some := false
	for _, target := range targets {
		target = spoken(target)
		if target == "" {
			continue
		}
		some = true
		if !namedIn(texts, target) {
			return false
		}
	}
	return some
}

func namedIn(texts []string, target string) bool {
	forms := []string{target}
	if base := path.Base(target); base != target && base != "." && base != "/" && !strings.Contains(target, "://") {
		forms = append(forms, base)
	}
	if ext := path.Ext(target); len(ext) > 1 && len(ext) <= 6 && !strings.ContainsAny(ext, " @/") && !strings.Contains(target, "@") && !strings.Contains(target, "://") {
		stem := strings.TrimSuffix(path.Base(target), ext)
		if spaced := strings.Map(separatorsToBlanks, stem); spaced != stem {
			forms = append(forms, spoken(spaced))
		}
		forms = append(forms, stem)
	}
	for _, t := range texts {
		for _, f := range forms {
			if standsIn(t, f) {
				return true
			}
		}
	}
	return false
}

func separatorsToBlanks(r rune) rune {
	if r == '_' || r == '-' {
		return ' '
	}
	return r
}

// standsIn tells whether a target stands in a text as a whole. One of less than three characters must be said to be one:
// "5 files" does not name the event 5, "event #5" and "id 5" do.
func standsIn(text, target string) bool {
	short := characters(target) < 3
	for from := 0; ; {
		i := strings.Index(text[from:], target)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(target)
		if freeBefore(text[:start]) && freeBehind(text[end:]) && (!short || announced(text[:start], text[end:])) {
			return true
		}
		from = start + 1
		for from < len(text) && text[from]&0xC0 == 0x80 {
			from++
		}
	}
}

func freeBefore(s string) bool {
	return s == "" || !joins(lastRune(s), "-_.@/+%=&~")
}

func freeBehind(s string) bool {
	if s == "" {
		return true
	}
	next := []rune(s[:min(len(s), 8)])
	if next[0] == '.' || next[0] == ',' || next[0] == ':' || next[0] == '?' || next[0] == '!' { // the end of a sentence, or more of the name
		return len(next) < 2 || !joins(next[1], "")
	}
	return !joins(next[0], "-_@/+%=&~")
}

func joins(r rune, signs string) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(signs, r)
}

func lastRune(s string) rune {
	r := []rune(s[max(0, len(s)-4):])
	return r[len(r)-1]
}

func announced(before, behind string) bool {
	before = strings.TrimRight(before, " :")
	for _, w := range []string{"#", "id", "number", "no.", "nr", "nr."} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return before != "" && behind != "" && strings.ContainsRune(`"'“„«`, lastRune(before)) && strings.ContainsRune(`"'”“»`, []rune(behind[:min(4, len(behind))])[0])
}

// spoken gives text in the form in which names are compared: one line, lower case, composed. Look-alikes stay what they
// are: a file whose name only looks like the one that was said was not named.
func spoken(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	return strings.ReplaceAll(strings.ReplaceAll(line(s, len(s)), "’", "'"), `\`, "/")
}
