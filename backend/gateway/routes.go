package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"sentient/backend/api"
	"sentient/backend/errs"
	"sentient/backend/gateway/v1"
	"sentient/backend/obs"
)

// handler routes the table's operations and the page.
func (g *Gateway) handler() http.Handler {
	mux := http.NewServeMux()
	for _, o := range g.o.Table.Operations() {
		if o.Path == "" {
			continue // a message: it comes over the live connection
		}
		verb := o.Verb
		if o.Kind == api.Live {
			verb = http.MethodGet
		}
		mux.Handle(verb+" "+o.Path, g.operation(o))
	}
	mux.Handle("GET /open", http.HandlerFunc(g.open))
	mux.Handle("/api/", http.HandlerFunc(g.unknown))
	mux.Handle("/", g.page())
	o := g.o.V1
	o.Ready, o.Clock, o.Log = g.o.Table.Ready, g.o.Clock, g.o.Log
	apps := v1.New(o)
	return g.everyRequest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ofApps(r) { // not by the mux, which leads some spellings elsewhere before anything is checked
			apps.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// ofApps tells whether a request is for the API of other apps.
func ofApps(r *http.Request) bool {
	return r.URL.Path == "/v1" || strings.HasPrefix(r.URL.Path, "/v1/")
}

// everyRequest is what all requests pass first: an id, the headers that keep a page in, Host and Origin.
func (g *Gateway) everyRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := uuid.NewString()
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r = r.WithContext(obs.WithRequest(r.Context(), id))
		for _, guard := range []func(*http.Request) error{g.guardHost, g.guardOrigin} {
			if err := guard(r); err != nil {
				g.fail(w, r, err, false)
				return
			}
		}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // the value itself, as net/http documents
					panic(p)
				}
				g.o.Log.ErrorContext(r.Context(), "request panicked", "path", r.URL.Path, "panic", p)
				g.fail(w, r, errs.New(errs.Internal, "internal", "Something went wrong inside Sentient. The details are in its log."), false)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// operation serves one row of the table.
func (g *Gateway) operation(o api.Op) http.Handler {
	serve := map[api.Kind]func(http.ResponseWriter, *http.Request, api.Op) error{
		api.Unary: g.unary, api.Stream: g.stream, api.Upload: g.upload, api.Download: g.download, api.Live: g.live,
	}[o.Kind]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Who&api.Open == 0 {
			if err := g.guardCaller(r, o.Kind == api.Live); err != nil {
				g.fail(w, r, err, false)
				return
			}
		}
		if err := serve(w, r, o); err != nil {
			g.fail(w, r, err, o.Fields)
		}
	})
}

func (g *Gateway) unary(w http.ResponseWriter, r *http.Request, o api.Op) error {
	in, err := g.input(w, r, o)
	if err != nil {
		return err
	}
	out, err := g.o.Table.Call(r.Context(), o.ID, in)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

// stream writes NDJSON. An error before the first value has a status of its own; a later one is the last line.
func (g *Gateway) stream(w http.ResponseWriter, r *http.Request, o api.Op) error {
	in, err := g.input(w, r, o)
	if err != nil {
		return err
	}
	flusher := http.NewResponseController(w)
	began := false
	write := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if !began {
			w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
			w.Header().Set("X-Accel-Buffering", "no")
			began = true
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
		return flusher.Flush()
	}
	err = g.o.Table.Stream(r.Context(), o.ID, in, write)
	if err == nil || !began {
		if err == nil && !began {
			w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
			w.WriteHeader(http.StatusOK)
		}
		return err
	}
	if r.Context().Err() != nil {
		return nil // the reader has left
	}
	g.log(r, err)
	_ = write(problem(r, err, false)) // the reader may have left in this moment; there is nobody else to tell
	return nil
}

func (g *Gateway) upload(w http.ResponseWriter, r *http.Request, o api.Op) error {
	r.Body = http.MaxBytesReader(w, r.Body, o.MaxBody)
	const inMemory = 1 << 20 // the rest of a file waits on the disk
	if err := r.ParseMultipartForm(inMemory); err != nil {
		return bodyError(err, "Send the file as multipart form data, in a member named “file”.")
	}
	defer r.MultipartForm.RemoveAll()
	file, head, err := r.FormFile("file")
	if err != nil {
		return errs.New(errs.Invalid, "no_file", "Send the file as multipart form data, in a member named “file”.").Because(err)
	}
	defer file.Close()
	members := map[string]any{"name": head.Filename, "size": head.Size}
	for name, values := range r.MultipartForm.Value {
		members[name] = values[0]
	}
	in, err := json.Marshal(members)
	if err != nil {
		return err
	}
	out, err := g.o.Table.Upload(r.Context(), o.ID, in, file)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

func (g *Gateway) download(w http.ResponseWriter, r *http.Request, o api.Op) error {
	in, err := g.input(w, r, o)
	if err != nil {
		return err
	}
	content, err := g.o.Table.Download(r.Context(), o.ID, in)
	if err != nil {
		return err
	}
	defer content.Body.Close()
	h := w.Header()
	h.Set("Content-Type", content.MIME)
	// A stored file is shown to its person, never run as a page of ours.
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": content.Name}))
	http.ServeContent(w, r, "", content.Modified, content.Body)
	return nil
}

// input puts the members of path, query and body into one flat object.
func (g *Gateway) input(w http.ResponseWriter, r *http.Request, o api.Op) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if hasBody(r.Method) {
		body, err := g.body(w, r, o)
		if err != nil {
			return nil, err
		}
		if name := o.WholeBody(); name != "" {
			members[name] = body
		} else if err := json.Unmarshal(body, &members); err != nil || members == nil { // null decodes to no map at all
			return nil, errs.New(errs.Malformed, "not_json", "The request's body is not a JSON object.").Because(err)
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errs.New(errs.Malformed, "bad_query", "The request's address can't be read.").Because(err)
	}
	for name, kind := range o.QueryMembers() {
		if values := query[name]; len(values) > 0 {
			members[name] = api.FromText(kind, values[0])
		}
	}
	for _, name := range o.PathMembers() {
		members[name] = api.FromText(api.Text, r.PathValue(name))
	}
	return json.Marshal(members)
}

func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// body reads a JSON body within its size and time. An absent one is an empty object.
func (g *Gateway) body(w http.ResponseWriter, r *http.Request, o api.Op) (json.RawMessage, error) {
	limit := o.BodyLimit()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(g.o.Clock.Now().Add(bodyTimeout)) // where a connection has none, the size still bounds it
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, bodyError(err, "The request's body did not arrive whole.")
	}
	_ = control.SetReadDeadline(noDeadline)
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(raw) {
		return nil, errs.New(errs.Malformed, "not_json", "The request's body is not valid JSON.")
	}
	return raw, nil
}

func bodyError(err error, otherwise string) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errs.Newf(errs.TooLarge, "body_too_large", "The request is larger than the %d KB that Sentient takes here.", tooLarge.Limit>>10).Because(err)
	}
	return errs.New(errs.Malformed, "body_incomplete", otherwise).Because(err)
}

func (g *Gateway) unknown(w http.ResponseWriter, r *http.Request) {
	if err := g.guardCaller(r, false); err != nil {
		g.fail(w, r, err, false)
		return
	}
	if allowed := g.verbsOf(r.URL.Path); len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		e := errs.New(errs.NotFound, "method_not_allowed", "Sentient does not do this at that address.")
		e.Status = http.StatusMethodNotAllowed
		g.fail(w, r, e, false)
		return
	}
	g.fail(w, r, errs.New(errs.NotFound, "route_unknown", "Sentient has nothing at this address."), false)
}

// verbsOf names the methods that the table has for a path.
func (g *Gateway) verbsOf(path string) []string {
	var verbs []string
	for _, o := range g.o.Table.Operations() {
		if o.Path != "" && o.Kind != api.Live && o.MatchesPath(path) {
			verbs = append(verbs, o.Verb)
		}
	}
	return verbs
}

// Problem is the shape of every error: the contract's detail, with a stable code and the request's id (decision 4).
type Problem struct {
	Detail    any    `json:"detail"` // a sentence, or for settings a list of {loc, msg, type}
	Code      string `json:"code"`
	RequestID string `json:"request_id"`

	Error *v1.Fault `json:"error,omitempty"` // the same as an app reads it, under /v1
}

func problem(r *http.Request, err error, listFields bool) Problem {
	e := errs.From(err)
	p := Problem{Detail: e.Message, Code: e.Code, RequestID: obs.RequestID(r.Context())}
	if listFields && len(e.Fields) > 0 {
		p.Detail = e.Fields
	}
	if ofApps(r) {
		fault := v1.FaultOf(err)
		p.Error = &fault
	}
	return p
}

func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, err error, listFields bool) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // the caller has left
	}
	g.log(r, err)
	if ofApps(r) {
		v1.NoRetry(w.Header())
	}
	_ = writeJSON(w, errs.StatusOf(err), problem(r, err, listFields)) // the caller may have left
}

func (g *Gateway) log(r *http.Request, err error) {
	e := errs.From(err)
	level := g.o.Log.InfoContext
	if e.Kind == errs.Internal {
		level = g.o.Log.ErrorContext
	}
	level(r.Context(), "request refused", "method", r.Method, "path", r.URL.Path, "code", e.Code, "error", err)
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return errs.New(errs.Internal, "internal", "Something went wrong inside Sentient. The details are in its log.").Because(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the caller may have left
	return nil
}
