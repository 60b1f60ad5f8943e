package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"sentient/app/attach"
	"sentient/app/bound"
	"sentient/backend/errs"
	"sentient/backend/session"
)

const fileContent = "files.content"

// filePolicy is what a stored file may do when it is shown by itself: nothing.
const filePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

// localEngine is what the window needs of an engine in its own process.
type localEngine interface {
	bound.Door
	Download(ctx context.Context, id string, input json.RawMessage) (*session.Content, error)
	Wait(ctx context.Context) error
	Close()
}

// localDoor is such an engine as the window's door.
type localDoor struct{ localEngine }

func fileInput(name string) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return nil, fmt.Errorf("encode file name: %w", err)
	}
	return raw, nil
}

// ServeFile answers with a stored file of the engine in this process.
func (d localDoor) ServeFile(w http.ResponseWriter, r *http.Request, name string) {
	in, err := fileInput(name)
	if err != nil {
		refuse(w, err)
		return
	}
	content, err := d.Download(r.Context(), fileContent, in)
	if err != nil {
		refuse(w, err)
		return
	}
	defer content.Body.Close()
	h := w.Header()
	h.Set("Content-Type", content.MIME)
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": content.Name}))
	http.ServeContent(w, r, "", content.Modified, content.Body)
}

// remoteDoor is an engine of another process as the window's door.
type remoteDoor struct{ attach.Door }

// ServeFile passes a stored file of the other process's engine on.
func (d remoteDoor) ServeFile(w http.ResponseWriter, r *http.Request, name string) {
	in, err := fileInput(name)
	if err != nil {
		refuse(w, err)
		return
	}
	asked := http.Header{}
	for _, key := range []string{"Range", "If-Range", "If-Modified-Since"} {
		if v := r.Header.Get(key); v != "" {
			asked.Set(key, v)
		}
	}
	res, err := d.Download(r.Context(), fileContent, in, asked)
	if err != nil {
		refuse(w, err)
		return
	}
	defer res.Body.Close()
	h := w.Header()
	for _, key := range []string{"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Accept-Ranges", "Last-Modified"} {
		if v := res.Header.Get(key); v != "" {
			h.Set(key, v)
		}
	}
	h.Set("Content-Security-Policy", filePolicy)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the page may have left; it sees a short answer by its length
}

// refuse answers a request of the page with an error's status and sentence.
func refuse(w http.ResponseWriter, err error) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(errs.StatusOf(err))
	_, _ = io.WriteString(w, errs.From(err).Message) // the page may have left
}
