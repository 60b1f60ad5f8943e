package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"sentient/backend/obs"
	"sentient/backend/svc"
)

// Part is a run of bytes of a response body. They are written and flushed as they are, in pieces of Chunk bytes when Chunk
// is not 0. Until is waited for first.
type Part struct {
	Bytes string
	Chunk int
	Until <-chan struct{}
}

// Play is what the Server answers to one request.
type Play struct {
	Status int         // 0 is 200
	Header http.Header // without a Content-Type it is text/event-stream
	Before <-chan struct{}
	Parts  []Part
	Hang   bool // after the parts: stays open until the client goes away
	Cut    bool // after the parts: the connection is reset, without the body's end
}

// Recorded is a request that the Server was sent.
type Recorded struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// JSON decodes the body into v.
func (r Recorded) JSON(v any) error { return json.Unmarshal(r.Body, v) }

// maxRequest is how much of a request's body is read and kept.
const maxRequest = 64 << 20

// Server is a stub of a model service on loopback. GET …/models lists Models, POST …/embeddings gives Vector of each
// input; every other request is answered by the next Play (or by what choose says) and counted.
type Server struct {
	// URL is the address with the /v1 that OpenAI-compatible clients expect; Root is without.
	URL  string
	Root string

	mu       sync.Mutex
	choose   func(Recorded) Play
	plays    []Play
	requests []Recorded
	others   []Recorded
	gone     int
	changed  chan struct{}
	models   []string

	http    *http.Server
	tree    *svc.Tree
	closing sync.Once
}

// Serve starts a server that answers with the plays in order, one a request. A request beyond them gets a 500 that says so.
func Serve(plays ...Play) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ServeOn(l, plays...), nil
}

// ServeOn is Serve on a listener of the caller's, for tests that bring their own network.
func ServeOn(l net.Listener, plays ...Play) *Server {
	s := &Server{Root: "http://" + l.Addr().String(), plays: plays, changed: make(chan struct{}), models: []string{"scripted"}}
	s.URL = s.Root + "/v1"
	s.http = &http.Server{Handler: http.HandlerFunc(s.handle)}
	s.tree = svc.NewTree("scripted server", obs.Discard())
	s.tree.Go("serve", func(context.Context) {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	})
	return s
}

// ServeBy starts a server that asks choose for each answer, from several goroutines at once.
func ServeBy(choose func(Recorded) Play) (*Server, error) {
	s, err := Serve()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.choose = choose
	s.mu.Unlock()
	return s, nil
}

// Close ends the server and every open response. It may be called again.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.http.Close()
		s.tree.Close()
	})
}

// Add appends plays.
func (s *Server) Add(plays ...Play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = append(s.plays, plays...)
}

// SetModels sets what GET …/models lists.
func (s *Server) SetModels(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = append([]string(nil), ids...)
}

// Requests gives the requests that were answered by plays, in the order of arrival.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.requests...)
}

// Others gives the requests for models and embeddings.
func (s *Server) Others() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.others...)
}

// Await returns when n requests have arrived, or with ctx's error.
func (s *Server) Await(ctx context.Context, n int) error {
	return s.await(ctx, func() bool { return len(s.requests) >= n })
}

// AwaitGone returns when n clients have gone away before their answer's end, or with ctx's error.
func (s *Server) AwaitGone(ctx context.Context, n int) error {
	return s.await(ctx, func() bool { return s.gone >= n })
}

func (s *Server) await(ctx context.Context, enoughLocked func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := enoughLocked(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Server) tellLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "scripted server: request body too large or broken", http.StatusBadRequest)
		return
	}
	rec := Recorded{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.listModels(w, rec)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/embeddings"):
		s.embed(w, rec)
	default:
		s.play(w, r, s.next(rec))
	}
}

func (s *Server) next(rec Recorded) Play {
	s.mu.Lock()
	s.requests = append(s.requests, rec)
	n := len(s.requests)
	s.tellLocked()
	choose := s.choose
	if choose == nil && len(s.plays) > 0 {
		p := s.plays[0]
		s.plays = s.plays[1:]
		s.mu.Unlock()
		return p
	}
	s.mu.Unlock()
	if choose != nil {
		return choose(rec)
	}
	return Refuse(http.StatusInternalServerError, fmt.Sprintf(`{"error":{"message":"scripted server: no answer in the script for request %d"}}`, n))
}

func (s *Server) play(w http.ResponseWriter, r *http.Request, p Play) {
	ctx := r.Context()
	defer func() {
		if ctx.Err() != nil {
			s.mu.Lock()
			s.gone++
			s.tellLocked()
			s.mu.Unlock()
		}
	}()
	if !waitFor(ctx, p.Before) {
		return
	}
	for name, values := range p.Header {
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	w.WriteHeader(p.Status)
	out := http.NewResponseController(w)
	_ = out.Flush()
	for _, part := range p.Parts {
		if !waitFor(ctx, part.Until) {
			return
		}
		for rest := part.Bytes; rest != ""; {
			n := len(rest)
			if part.Chunk > 0 {
				n = min(part.Chunk, n)
			}
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				return
			}
			_ = out.Flush()
			rest = rest[n:]
		}
	}
	if p.Hang {
		<-ctx.Done()
		return
	}
	if p.Cut {
		panic(http.ErrAbortHandler)
	}
}

func waitFor(ctx context.Context, c <-chan struct{}) bool {
	if c == nil {
		return ctx.Err() == nil
	}
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) listModels(w http.ResponseWriter, rec Recorded) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	s.mu.Lock()
	s.others = append(s.others, rec)
	list := []model{}
	for _, id := range s.models {
		list = append(list, model{ID: id, Object: "model"})
	}
	s.mu.Unlock()
	writeJSON(w, map[string]any{"object": "list", "data": list})
}

func (s *Server) embed(w http.ResponseWriter, rec Recorded) {
	var in struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	s.mu.Lock()
	s.others = append(s.others, rec)
	s.mu.Unlock()
	var texts []string
	if err := json.Unmarshal(rec.Body, &in); err != nil {
		http.Error(w, `{"error":{"message":"not JSON"}}`, http.StatusBadRequest)
		return
	}
	if json.Unmarshal(in.Input, &texts) != nil {
		var one string
		if json.Unmarshal(in.Input, &one) != nil {
			http.Error(w, `{"error":{"message":"input is neither text nor texts"}}`, http.StatusBadRequest)
			return
		}
		texts = []string{one}
	}
	type row struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	rows := []row{}
	for i, t := range texts {
		rows = append(rows, row{Object: "embedding", Index: i, Embedding: Vector(t)})
	}
	writeJSON(w, map[string]any{"object": "list", "model": in.Model, "data": rows, "usage": map[string]int{"prompt_tokens": len(texts), "total_tokens": len(texts)}})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
