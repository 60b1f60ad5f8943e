package agent

import (
	"context"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/llm"
)

// How much of an attachment goes to a model, in bytes.
const (
	maxText    = 100 << 10
	maxPicture = 20 << 20
)

// attachment is what the attachment prompts are filled with.
type attachment struct {
	Name, MIME, Text string
	Cut              bool
}

func (s *Service) attachmentText(kind string, a attachment) (string, error) {
	return fill(s.prompts.attachments.Lookup(kind), a)
}

// pictures are the kinds of picture that models take.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// attach gives an attachment as a model reads it: the text that stands for it and, for a picture, the picture.
func (s *Service) attach(ctx context.Context, name string) (string, *llm.Image, error) {
	_, mime, size, err := s.Files.ReadFile(ctx, name, 0)
	if errs.Is(err, errs.NotFound) {
		text, err := s.attachmentText("gone", attachment{Name: name})
		return text, nil, err
	}
	if err != nil {
		return "", nil, err
	}
	a := attachment{Name: name, MIME: mime}
	switch {
	case pictures[mime] && size <= maxPicture:
		return s.picture(ctx, a, size)
	case readable(mime):
		data, _, _, err := s.Files.ReadFile(ctx, name, maxText)
		if err != nil {
			return "", nil, err
		}
		a.Text, a.Cut = strings.TrimRight(cut(string(data), maxText), "\n"), size > maxText
		kind := "file"
		if strings.HasPrefix(name, "selections/") {
			kind = "selection"
		}
		text, err := s.attachmentText(kind, a)
		return text, nil, err
	}
	text, err := s.attachmentText("opaque", a)
	return text, nil, err
}

func (s *Service) picture(ctx context.Context, a attachment, size int64) (string, *llm.Image, error) {
	data, _, _, err := s.Files.ReadFile(ctx, a.Name, size)
	if err != nil {
		return "", nil, err
	}
	kind := "picture"
	if strings.HasPrefix(a.Name, "screens/") {
		kind = "screen"
	}
	text, err := s.attachmentText(kind, a)
	return text, &llm.Image{MIME: a.MIME, Data: data}, err
}

// readable reports whether files of a kind are text.
func readable(mime string) bool {
	switch mime {
	case "application/json", "application/xml", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(mime, "text/")
}
