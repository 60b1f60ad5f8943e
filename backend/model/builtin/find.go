package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// index is index.json, in the data folder's models/ and in a checkout's build/cache/models. Paths are relative to the
// file's own folder, or absolute.
type index struct {
	Program []string     `json:"program"` // the program, then files that come first among its arguments (an interpreter's script)
	Args    []string     `json:"args"`    // arguments that this program wants on top of llama-server's
	Models  []indexModel `json:"models"`  // the first one is used
}

type indexModel struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	File       string   `json:"file"`
	SizeBytes  int64    `json:"size_bytes"`
	SHA256     string   `json:"sha256,omitempty"` // checked when it was brought, not again
	License    string   `json:"license"`
	LicenseURL string   `json:"license_url"`
	Weak       bool     `json:"weak"`
	Tools      bool     `json:"tools"`              // whether it can be offered tools
	MaxContext int      `json:"max_context"`        // tokens it was made for; 0 when unknown
	Template   string   `json:"template,omitempty"` // chat template file where the model has none
	Stops      []string `json:"stops,omitempty"`    // texts that end an answer under that template
}

// found is a model that is there with its program: paths are absolute and exist.
type found struct {
	indexModel
	program []string
	args    []string
}

const indexName = "index.json"

// find gives the model to use, nil when there is none. An error is an index that cannot be used; it is logged by Serve.
func (s *Service) find() (*found, error) {
	var broken error
	for _, dir := range []string{s.folder(), s.o.Checkout} {
		if dir == "" {
			continue
		}
		f, err := readIndex(dir)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		if f != nil {
			return f, nil
		}
	}
	return nil, broken
}

// maxIndex caps what is read of an index.
const maxIndex = 1 << 20

func readIndex(dir string) (*found, error) {
	path := filepath.Join(dir, indexName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the model index: %w", err)
	}
	if info.Size() > maxIndex {
		return nil, errors.New("read the model index: too large")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the model index: %w", err)
	}
	var ix index
	if err := json.Unmarshal(data, &ix); err != nil {
		return nil, fmt.Errorf("read the model index: %w", err)
	}
	if len(ix.Program) == 0 || len(ix.Models) == 0 || ix.Models[0].Name == "" {
		return nil, errors.New("read the model index: it names no program or no model")
	}
	at := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, filepath.FromSlash(p))
	}
	f := &found{indexModel: ix.Models[0], args: ix.Args}
	f.File = at(f.File)
	if f.Template != "" {
		f.Template = at(f.Template)
	}
	for _, p := range ix.Program {
		f.program = append(f.program, at(p))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// check makes sure that every file is there and the model is whole, so that a folder somebody cleaned up counts as missing
// and not as broken at the first question.
func (f *found) check() error {
	for _, p := range append([]string{f.Template}, f.program...) {
		if p == "" {
			continue
		}
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("find the model's program: %w", err)
		}
	}
	info, err := os.Stat(f.File)
	if err != nil {
		return fmt.Errorf("find the model: %w", err)
	}
	if f.SizeBytes > 0 && info.Size() != f.SizeBytes {
		return fmt.Errorf("find the model: it has %d bytes instead of %d", info.Size(), f.SizeBytes)
	}
	return nil
}

// FindCheckout gives the model folder of the source checkout that the program runs in, or "": build/cache/models beside
// an executable in build/bin, else above the working directory. Only a folder with an index counts.
func FindCheckout(executable, workingDir string) string {
	if executable != "" {
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			executable = real
		}
		dir := filepath.Join(filepath.Dir(executable), "..", "cache", "models")
		if hasIndex(dir) {
			return filepath.Clean(dir)
		}
	}
	for dir := workingDir; dir != ""; {
		// A checkout is known by its module file, so that no other folder's build/cache is taken for ours.
		if _, err := os.Stat(filepath.Join(dir, "build", "models", "fetch.sh")); err == nil {
			if models := filepath.Join(dir, "build", "cache", "models"); hasIndex(models) {
				return models
			}
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return ""
}

func hasIndex(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, indexName))
	return err == nil && info.Mode().IsRegular()
}
