package ollama

import (
	"regexp"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

var (
	pullUnknown = regexp.MustCompile(`file does not exist|manifest unknown|not found|invalid model name`)
	pullSpace   = regexp.MustCompile(`no space left|not enough space|disk`)
	pullOffline = regexp.MustCompile(`dial tcp|no such host|connection|timeout|tls|max retries`)
)

// pullRefused puts a failed download into words.
func (c *Client) pullRefused(name string, status int, raw []byte) error {
	e := c.service.Refused(name, status, nil, raw) // for its cause
	switch text := string(raw); {
	case pullUnknown.MatchString(text):
		return errs.Newf(errs.NotFound, llm.CodeModelUnknown, "Ollama's library has no model called %s. Check the name.", name).Because(e.Cause)
	case pullSpace.MatchString(text):
		return errs.Newf(errs.Unavailable, llm.CodeModelRefused, "There is not enough space on the disk for %s. Make room and try again.", name).Because(e.Cause)
	case pullOffline.MatchString(text):
		return errs.Newf(errs.Unavailable, llm.CodeUnreachable, "Ollama could not reach its library to download %s. Check the internet connection and try again: what was loaded is kept.", name).Because(e.Cause)
	}
	return e
}
