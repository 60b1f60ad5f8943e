package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"sentient/backend/errs"
)

// current is the version of the file that this program writes. A file without a version is of version 1.
const current = 1

// migration brings a file from one version to the next, as changes of its values. What it has no word about stays.
type migration struct {
	from    int
	changes func(values any) []change
}

// migrations are the steps from version 1 on, in order. They are never edited once released.
var migrations = []migration{}

// migrate brings a text to a version, step by step; the last change of each step is the version itself.
func migrate(text string, version int, steps []migration) (string, error) {
	for _, m := range steps {
		if m.from < version {
			continue
		}
		values, err := textValues(text)
		if err != nil {
			return "", err
		}
		changes := append(m.changes(values), change{path: []string{"version"}, value: plainNumber(jsonInt(m.from + 1))})
		if text, err = edited(text, changes); err != nil {
			return "", fmt.Errorf("migrate settings from version %d: %w", m.from, err)
		}
	}
	return text, nil
}

// loaded is a settings file and what it means.
type loaded struct {
	raw      []byte
	doc      *document
	said     any          // what the file says about known settings
	tree     any          // that over the defaults: whole and valid
	problems []errs.Field // values that are not valid; their defaults stand in tree
	unknown  [][]string   // keys that are no settings
	newer    bool         // written by a newer program
}

// interpret reads a file's bytes. An error means that the file as a whole is damaged.
func interpret(raw []byte) (*loaded, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("the file is empty")
	}
	doc, err := parseDocument(raw)
	if err != nil {
		return nil, err
	}
	l := &loaded{raw: raw, doc: doc}
	v := doc.version()
	if v > current {
		l.newer = true
	} else if v > 0 && v < current {
		text, err := migrate(doc.text, v, migrations)
		if err != nil {
			return nil, err
		}
		root, err := parseText(text)
		if err != nil {
			return nil, err
		}
		l.doc = &document{doc.enc, text, root}
	}
	l.said, l.unknown = l.doc.settings()
	l.said = normalize(root(), l.said)
	if v < 0 {
		l.problems = append(l.problems, errs.Field{Loc: []string{"version"}, Type: "int_type", Msg: "This is a whole number."})
	}
	l.tree = l.effective()
	return l, nil
}

// effective lays what the file says over the defaults. A value that is not valid is left out, and so is whatever holds
// it when it cannot be left out alone.
func (l *loaded) effective() any {
	said := l.said
	for range maxProblems {
		tree := whole(merge(root(), root().def, said, true))
		wrong := check(tree)
		if len(wrong) == 0 {
			return tree
		}
		for _, f := range wrong {
			l.problems = append(l.problems, f)
			said = without(said, f.Loc)
		}
	}
	return whole(root().def)
}

// without leaves out what stands at a path, or the nearest thing around it that can be left out. An entry of a list
// takes the list with it.
func without(tree any, path []string) any {
	for n := len(path); n > 0; n-- {
		if parent, ok := at(tree, path[:n-1]); ok {
			if m, ok := parent.(map[string]any); ok {
				if _, ok := m[path[n-1]]; ok {
					return applyOne(tree, path[:n], change{path: path[:n], remove: true})
				}
			}
		}
	}
	return map[string]any{}
}

// whole completes a tree, settles what depends on each other, and writes it in the canonical way.
func whole(tree any) any { return canonical(root(), settle(complete(root(), tree))) }

// settle keeps two promises of the contract: the default browser profile always exists, and the origin of a lasting
// rule goes when its rule is changed or removed (§2, §12).
func settle(tree any) any {
	profiles := []string{"browser", "profiles"}
	if p, ok := at(tree, profiles); ok {
		if m, ok := p.(map[string]any); ok && m["default"] == nil {
			if _, there := m["default"]; !there {
				path := append(profiles, "default")
				def, _ := at(root().def, path)
				tree = applyOne(tree, path, change{path: path, value: def})
			}
		}
	}
	rules, _ := at(tree, []string{"tools", "approvals", "rules"})
	origins, _ := at(tree, []string{"tools", "approvals", "rule_origins"})
	byKey, ok1 := rules.(map[string]any)
	from, ok2 := origins.(map[string]any)
	if !ok1 || !ok2 {
		return tree
	}
	for _, k := range sortedKeys(from) {
		origin, ok := from[k].(map[string]any)
		if rule, has := byKey[k]; ok && (!has || origin["rule"] != "" && origin["rule"] != rule) {
			path := []string{"tools", "approvals", "rule_origins", k}
			tree = applyOne(tree, path, change{path: path, remove: true})
		}
	}
	return tree
}

// start reads the file when the program starts and decides what counts. It never fails: what cannot be used is set
// aside or left alone, and said.
func (s *Store) start() {
	good, goodErr := s.lastGood()
	raw, err := readFile(s.path)
	s.seen = stampOf(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && good == nil:
		if goodErr == nil || errors.Is(goodErr, fs.ErrNotExist) {
			s.use(root().def)
			return // a first start
		}
		s.use(root().def)
		s.note("The settings file is missing and its last good copy cannot be read, so Sentient started with its default settings.")
	case errors.Is(err, fs.ErrNotExist):
		s.use(good.tree)
		s.note("The settings file was missing, so its last good copy was put back. To start over with default settings, remove both.")
		s.putBack(good)
	case err != nil:
		s.log.Error("cannot read the settings file", "error", err)
		s.unreadable(good)
	default:
		s.startWith(raw, good)
	}
}

func (s *Store) unreadable(good *loaded) {
	s.frozen = errs.New(errs.Unavailable, "config_unreadable",
		"Sentient may not read its settings file, so settings cannot be saved. Check the permissions of the file and start Sentient again.")
	if good != nil {
		s.use(good.tree)
		s.note("Sentient may not read its settings file. It uses the last good copy, and settings cannot be saved. Check the permissions of the file and start Sentient again.")
		return
	}
	s.use(root().def)
	s.note("Sentient may not read its settings file. It uses default settings, and settings cannot be saved. Check the permissions of the file and start Sentient again.")
}

func (s *Store) startWith(raw []byte, good *loaded) {
	l, err := interpret(raw)
	if err == nil && good != nil && s.cutOff(raw, good.raw) {
		err = errors.New("the file is only the beginning of its last good copy")
	}
	if err != nil {
		s.damaged(err, good)
		return
	}
	s.use(l.tree)
	s.aboutFile(s.report(l)...)
	if l.newer {
		s.frozen = newerFile()
		s.note("The settings file was written by a newer version of Sentient. It was left untouched: what this version knows of it is used, and settings cannot be saved. Update Sentient to change settings.")
		return
	}
	s.missed(l, good)
	if len(l.problems) == 0 {
		s.keepGood(l.raw)
	}
	if l.doc.text != "" && !bytes.Equal(l.doc.enc.bytes(l.doc.text), raw) { // migrated
		if err := writeWhole(s.path, l.doc.enc.bytes(l.doc.text)); err != nil {
			s.log.Error("cannot write the migrated settings file", "error", err)
		}
		s.seen = stampOf(s.path)
	}
}

func newerFile() *errs.Error {
	return errs.New(errs.Conflict, "config_newer",
		"The settings file was written by a newer version of Sentient, so this version does not change it. Update Sentient to change settings.")
}

// cutOff: the file is the beginning of its last good copy, as a crash or a full disk leaves it. A person may have
// deleted the end on purpose; who does it again after it was set aside once is taken at their word.
func (s *Store) cutOff(raw, good []byte) bool {
	if len(raw) >= len(good) || !bytes.HasPrefix(good, raw) {
		return false
	}
	aside, err := filepath.Glob(s.path + ".damaged-*")
	if err != nil {
		return true
	}
	for _, p := range aside {
		if was, err := readFile(p); err == nil && bytes.Equal(was, raw) {
			return false
		}
	}
	return true
}

// damaged sets the file aside and uses the last good copy, else defaults.
func (s *Store) damaged(cause error, good *loaded) {
	s.log.Error("the settings file is damaged", "error", cause)
	name, err := moveAside(s.path, s.clock.Now())
	if err != nil {
		s.log.Error("cannot set the damaged settings file aside", "error", err)
		s.frozen = errs.New(errs.Unavailable, "config_damaged",
			"The settings file is damaged and cannot be moved, so settings cannot be saved. Check the permissions of Sentient's folder and start it again.")
		name = fileName
	}
	if good == nil {
		s.use(root().def)
		s.note(fmt.Sprintf("The settings file was damaged and there is no good copy of it, so Sentient started with its default settings. The damaged file is kept as %s.", name))
		return
	}
	s.use(good.tree)
	s.note(fmt.Sprintf("The settings file was damaged, so the last good copy is used. The damaged file is kept as %s.", name))
	if err == nil {
		s.putBack(good)
	}
}

func (s *Store) putBack(good *loaded) {
	if err := writeWhole(s.path, good.raw); err != nil {
		s.log.Error("cannot put the last good settings back", "error", err)
	}
	s.seen = stampOf(s.path)
}

// lastGood reads the last good copy; nil when there is none that can be used.
func (s *Store) lastGood() (*loaded, error) {
	raw, err := readFile(s.path + ".last-good")
	if err != nil {
		return nil, err
	}
	l, err := interpret(raw)
	if err != nil {
		s.log.Warn("the last good copy of the settings cannot be used", "error", err)
		return nil, err
	}
	if l.newer {
		return nil, errors.New("the last good copy is of a newer version")
	}
	return l, nil
}

// keepGood makes a file that was read or written the last good copy. That it fails is logged: the settings are safe.
func (s *Store) keepGood(raw []byte) {
	path := s.path + ".last-good"
	if was, err := readFile(path); err == nil && bytes.Equal(was, raw) {
		return
	}
	if err := writeWhole(path, raw); err != nil {
		s.log.Warn("cannot keep a good copy of the settings", "error", err)
	}
}

// maxNotes bounds how many single values are named.
const maxNotes = 12

// report gives sentences for what in a file is not as it should be: values that are not valid, by name. These and
// unknown keys are logged once.
func (s *Store) report(l *loaded) (sentences []string) {
	for i, p := range l.problems {
		name := strings.Join(p.Loc, ".")
		if s.once("value " + name) {
			s.log.Warn("a value in the settings file is not valid", "setting", name, "type", p.Type)
		}
		if i < maxNotes {
			sentences = append(sentences, fmt.Sprintf("The setting %s in the settings file is not valid, so its default is used. %s", name, p.Msg))
		}
	}
	if len(l.problems) > maxNotes {
		sentences = append(sentences, fmt.Sprintf("%d more settings in the settings file are not valid; their defaults are used.", len(l.problems)-maxNotes))
	}
	for _, u := range l.unknown {
		if name := strings.Join(u, "."); s.once("key " + name) {
			s.log.Warn("the settings file has a key that this version does not know; it is kept as it is", "key", name)
		}
	}
	return sentences
}

// once is true the first time it is asked about something. After a thousand things it is always false.
func (s *Store) once(what string) bool {
	if s.logged[what] || len(s.logged) >= 1000 {
		return false
	}
	s.logged[what] = true
	return true
}

// missed says what the last good copy had and the file no longer has, so that a damaged file that happens to read well
// is no silent loss. The last good copy is kept under another name then.
func (s *Store) missed(l, good *loaded) {
	if good == nil || bytes.Equal(l.raw, good.raw) {
		return
	}
	var gone []string
	for _, c := range diff(root(), good.tree, l.tree) {
		if _, still := at(l.said, c.path); !still && !problemAt(l, c.path) {
			gone = append(gone, strings.Join(c.path, "."))
		}
	}
	known := map[string]bool{}
	for _, u := range good.unknown {
		known[strings.Join(u, ".")] = true
	}
	var odd []string
	for _, u := range l.unknown {
		if name := strings.Join(u, "."); !known[name] {
			odd = append(odd, name)
		}
	}
	if len(odd) > 0 {
		s.note(fmt.Sprintf("The settings file has something Sentient does not know: %s. It is kept, and does nothing.", listed(odd)))
	}
	if len(gone) == 0 {
		return
	}
	if err := writeWhole(s.path+".previous", good.raw); err != nil {
		s.log.Warn("cannot keep the previous settings", "error", err)
	}
	s.note(fmt.Sprintf("Since the last start the settings file lost %s, so defaults are used there. The file as it was before is kept as %s.", listed(gone), previousName))
}

func problemAt(l *loaded, path []string) bool {
	for _, p := range l.problems {
		n := min(len(p.Loc), len(path))
		if reflect.DeepEqual(p.Loc[:n], path[:n]) {
			return true
		}
	}
	return false
}

func listed(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}
