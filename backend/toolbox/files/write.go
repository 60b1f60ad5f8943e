package files

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/tool"
)

//go:embed file_write.md
var writeDescription string

type writeIn struct {
	Name    string `json:"name" doc:"The file's name with its ending, such as report.md or outputs/notes/plan.md."`
	Content string `json:"content" doc:"The text."`
	Mode    string `json:"mode,omitempty" doc:"create (the default) refuses a name that is taken, overwrite replaces the file, append adds to its end." enum:"create,overwrite,append"`
}

// writeOut is what file_write gives.
type writeOut struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	Done string `json:"done"` // wrote, replaced, appended
}

// maxWritten is how large a file may become by appending, in bytes.
const maxWritten = 16 << 20

func (f *folder) write() *tool.Tool {
	return tool.New(tool.Def[writeIn]{
		Name: "file_write", Description: strings.TrimSpace(writeDescription), Risk: tool.Write, Outcome: tool.OutcomeFile,
		Run:      f.runWrite,
		Describe: f.describeWrite,
		Targets: func(in writeIn) []string {
			p, err := writable(in.Name)
			if err != nil {
				return nil
			}
			return []string{p}
		},
		Touches: func(in writeIn) *tool.Touched {
			p, err := writable(in.Name)
			if err != nil {
				return nil // it writes nothing
			}
			return &tool.Touched{Source: "files", What: p, Paths: []string{p}}
		},
		Verify: f.verifyWrite,
		Files: func(_ writeIn, result json.RawMessage) []string {
			var out writeOut
			if json.Unmarshal(result, &out) != nil {
				return nil
			}
			return []string{out.Name}
		},
	})
}

func (f *folder) runWrite(ctx context.Context, _ *tool.Context, in writeIn) (any, error) {
	p, err := writable(in.Name)
	if err != nil {
		return nil, err
	}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	there, err := look(root, p)
	if err != nil {
		return nil, err
	}
	out := writeOut{Name: p, Done: "wrote"}
	content := []byte(in.Content)
	switch {
	case there && in.Mode == "overwrite":
		out.Done = "replaced"
	case there && in.Mode == "append":
		before, err := readBounded(root, p)
		if err != nil {
			return nil, err
		}
		content, out.Done = append(before, content...), "appended"
	case there:
		return nil, errTaken()
	}
	if len(content) > maxWritten {
		return nil, errs.Newf(errs.TooLarge, "file_too_large", "The file would be larger than %d MB. Begin another one.", maxWritten>>20)
	}
	if err := put(root, p, content, out.Done == "wrote"); err != nil {
		return nil, fileError("write file", err)
	}
	out.Size = len(content)
	return out, nil
}

func errTaken() error {
	return errs.New(errs.Conflict, "file_exists", "There is a file of this name already. Use another name, or mode overwrite or append if it is meant to change.")
}

// look reports whether a file is there, and refuses what is no plain file and what is reached by a link.
func look(root *os.Root, p string) (there bool, err error) {
	for at := range path.Dir(p) + "/" {
		if p[at] != '/' {
			continue
		}
		info, err := root.Lstat(p[:at])
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fileError("write file", err)
		}
		if !info.IsDir() {
			return false, errs.New(errs.Conflict, "file_name_invalid", "A folder in this name is a file or a link. Use another name.")
		}
	}
	info, err := root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fileError("write file", err)
	case !info.Mode().IsRegular():
		return false, errs.New(errs.Conflict, "file_name_invalid", "There is a folder or a link of this name. Use another name.")
	}
	return true, nil
}

func readBounded(root *os.Root, p string) ([]byte, error) {
	file, _, err := openWhole(root, p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxWritten+1))
	return data, fileError("read file", err)
}

// put writes a file whole or not at all. A fresh one never replaces another, also not one that came in between.
func put(root *os.Root, p string, content []byte, fresh bool) (err error) {
	dir := path.Dir(p)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	temp := dir + "/" + partPrefix + hex.EncodeToString(random[:])
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = place(root, temp, p, fresh)
	}
	if err != nil {
		return errors.Join(err, gone(root.Remove(temp)))
	}
	return syncDir(root, dir)
}

// place gives a written file its name.
func place(root *os.Root, temp, p string, fresh bool) error {
	if !fresh {
		return root.Rename(temp, p)
	}
	err := root.Link(temp, p)
	switch {
	case err == nil:
		return root.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return errTaken()
	}
	// A file system without links: look, then rename.
	if _, err := root.Lstat(p); err == nil {
		return errTaken()
	}
	return root.Rename(temp, p)
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// syncDir makes a new name last. Windows has no such call and needs none.
func syncDir(root *os.Root, dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f *folder) describeWrite(_ context.Context, _ *tool.Context, in writeIn) (tool.Wording, error) {
	p, err := writable(in.Name)
	if err != nil {
		return tool.Wording{}, err
	}
	label := map[string]string{"overwrite": "Replaces a file", "append": "Adds to a file"}[in.Mode]
	if label == "" {
		label = "Writes a file"
	}
	return tool.Wording{RiskLabel: label, Target: p}, nil
}

// verifyWrite reads the file back: it is there and holds what was written, line ends aside (§4).
func (f *folder) verifyWrite(ctx context.Context, _ *tool.Context, in writeIn, _ json.RawMessage) (tool.Verified, error) {
	p, err := writable(in.Name)
	if err != nil {
		return tool.Verified{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Verified{}, err
	}
	root, err := f.open()
	if err != nil {
		return tool.Verified{}, err
	}
	defer root.Close()
	data, err := readBounded(root, p)
	if errs.Is(err, errs.NotFound) {
		return tool.Verified{Detail: p + " is not there", Missed: []string{p}}, nil
	}
	if err != nil {
		return tool.Verified{}, err
	}
	got, want := lineEnds.Replace(string(data)), lineEnds.Replace(in.Content)
	if got == want || in.Mode == "append" && strings.HasSuffix(got, want) {
		return tool.Verified{OK: true}, nil
	}
	return tool.Verified{Detail: p + " does not hold what was written", Missed: []string{p}}, nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
