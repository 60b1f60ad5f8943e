package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"sentient/backend/errs"
	"sentient/backend/event"
)

// maxBody bounds what a request may hold.
const maxBody = 1 << 20

// Replace makes a full object the settings (PUT /api/config, §2). A member that is left out takes its default.
func (s *Store) Replace(ctx context.Context, raw json.RawMessage) error {
	body, err := object(raw)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, func(any) (any, error) {
		return merge(root(), map[string]any{}, normalize(root(), body), false), nil
	})
	return err
}

// Patch merges a partial object into the settings at every depth (PATCH /api/config, §2) and gives them as they are
// then. A null removes an entry of the maps that §2 lists.
func (s *Store) Patch(ctx context.Context, raw json.RawMessage) (*Config, error) {
	body, err := object(raw)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, func(now any) (any, error) {
		return merge(root(), now, normalize(root(), body), false), nil
	})
}

// Modify changes the settings in code: f gets a copy and changes it. It is validated and applied like any change.
func (s *Store) Modify(ctx context.Context, f func(*Config)) error {
	_, err := s.change(ctx, func(now any) (any, error) {
		c, err := decode(now)
		if err != nil {
			return nil, err
		}
		f(c)
		tree, err := encode(c)
		if err != nil {
			return nil, err
		}
		return normalize(root(), tree), nil
	})
	return err
}

func object(raw json.RawMessage) (any, error) {
	if len(raw) > maxBody {
		return nil, errs.New(errs.TooLarge, "config_too_large", "These settings are too large to be settings. Send only what is to change.")
	}
	v, err := parseJSON(raw)
	if err != nil {
		return nil, errs.New(errs.Malformed, "config_malformed", "These settings could not be read: they are not valid JSON.").Because(err)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, invalid([]errs.Field{{Loc: []string{}, Type: "dict_type", Msg: "Settings are an object."}})
	}
	return v, nil
}

// change makes one change: validate, look at the file again, let everybody verify, write, apply, tell.
func (s *Store) change(ctx context.Context, f func(now any) (any, error)) (*Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now.Load()
	if s.frozen != nil {
		return nil, s.frozen
	}
	want, err := f(now.tree)
	if err != nil {
		return nil, err
	}
	want = whole(want)
	if wrong := check(want); len(wrong) > 0 {
		return nil, invalid(wrong)
	}
	changes := diff(root(), now.tree, want)
	if len(changes) == 0 {
		return now.config, nil
	}
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	if base.raw == nil { // there is no file: everything is to be written, not only what changes now
		changes = diff(root(), base.tree, want)
	}
	final := whole(apply(base.tree, changes))
	if wrong := check(final); len(wrong) > 0 {
		return nil, invalid(wrong)
	}
	next, err := s.verify(ctx, now, final)
	if err != nil {
		return nil, err
	}
	if err := s.write(ctx, base, changes, final); err != nil {
		return nil, err
	}
	s.apply(ctx, now, next)
	return next.config, nil
}

// base is the file as it is at this moment: a person may have edited it since it was read.
func (s *Store) base() (*loaded, error) {
	raw, err := readFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if good, _ := s.lastGood(); good != nil {
			good.raw = nil
			return good, nil
		}
		text := "# Settings of Sentient. Everything that is not here has its default.\nversion: " + fmt.Sprint(current) + "\n"
		top, err := parseText(text)
		if err != nil {
			return nil, err
		}
		return &loaded{doc: &document{utf8Plain, text, top}, tree: whole(root().def)}, nil
	case err != nil:
		return nil, errs.New(errs.Unavailable, "config_unreadable",
			"Sentient may not read its settings file, so nothing was saved. Check the permissions of the file and try again.").Because(err)
	}
	l, err := interpret(raw)
	if err != nil {
		return nil, errs.New(errs.Conflict, "config_hand_edit",
			"The settings file was changed by hand and cannot be read any more, so nothing was saved. Correct the file, or start Sentient again to go back to the last good copy.").Because(err)
	}
	if l.newer {
		return nil, newerFile()
	}
	return l, nil
}

// verify asks everybody. The first refusal ends it.
func (s *Store) verify(ctx context.Context, from *settled, tree any) (*settled, error) {
	c, err := decode(tree)
	if err != nil {
		return nil, err
	}
	for _, sub := range s.subscribers() {
		if err := sub.Verify(ctx, from.config, c); err != nil {
			s.log.InfoContext(ctx, "a change of settings was refused", "by", sub.name, "error", err)
			return nil, err
		}
	}
	return &settled{c, tree}, nil
}

// write edits the file's text and puts it in the file's place, after proving that the new text means the new settings.
func (s *Store) write(ctx context.Context, base *loaded, changes []change, final any) error {
	after, err := rewritten(base, changes, final)
	if err != nil {
		return unsaved(err)
	}
	if err := ctx.Err(); err != nil {
		return errs.From(err)
	}
	if base.raw == nil || !bytes.Equal(after.raw, base.raw) {
		if err := writeWhole(s.path, after.raw); err != nil {
			return unsaved(err)
		}
	}
	s.seen = stampOf(s.path)
	s.aboutFile(s.report(after)...)
	if len(after.problems) == 0 {
		s.keepGood(after.raw)
	}
	return nil
}

// rewritten gives the file with the changes made, proven to mean the final settings. An entry that would come back,
// because it has a default or a merge brings it in, is not taken out but set to null, which in a file removes it.
func rewritten(base *loaded, changes []change, final any) (*loaded, error) {
	var last error
	for _, onlyDefaults := range []bool{true, false} {
		own := slices.Clone(changes)
		for i, c := range own {
			if _, isDefault := at(root().def, c.path); c.remove && (isDefault || !onlyDefaults) {
				own[i] = change{path: c.path}
			}
		}
		text, err := edited(base.doc.text, own)
		if err != nil {
			last = err
			continue
		}
		after, err := interpret(base.doc.enc.bytes(text))
		if err == nil && reflect.DeepEqual(after.tree, final) {
			return after, nil
		}
		last = errors.Join(errors.New("the edited file does not mean the new settings"), err)
	}
	return nil, last
}

// apply makes the new state the settings of now, lets everybody apply it, and tells.
func (s *Store) apply(ctx context.Context, from, to *settled) {
	changes := diff(root(), from.tree, to.tree)
	if len(changes) == 0 {
		return
	}
	s.now.Store(to)
	// What was written must be applied, also when whoever asked for it has gone away.
	ctx = context.WithoutCancel(ctx)
	for _, sub := range s.subscribers() {
		sub.Commit(ctx, from.config, to.config)
	}
	var sections []string
	for _, c := range changes {
		sections = append(sections, c.path[0])
	}
	slices.Sort(sections)
	sections = slices.Compact(sections)
	s.log.InfoContext(ctx, "settings changed", "sections", sections)
	if s.bus != nil {
		event.Publish(s.bus, Updated, UpdatedEvent{Sections: sections})
	}
}
