package bound

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"sentient/backend/api"
	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/svc"
)

// Streams carries stream operations, uploads and the live connection between page and engine. What comes down for the
// stream id reaches the page as the event "stream:<id>" with a Batch.
type Streams struct {
	door  Door
	emit  func(name string, batch Batch)
	tree  *svc.Tree
	clock clock.Clock
	log   *slog.Logger

	mu   sync.Mutex
	open map[string]*stream
}

// Batch is what came down since the last frame of the screen.
type Batch struct {
	Items []json.RawMessage `json:"items,omitempty"`
	Done  bool              `json:"done,omitempty"`
	Error *Failure          `json:"error,omitempty"`
}

const (
	frame       = 16 * time.Millisecond // one frame of a screen
	batchAtMost = 512                   // items of one batch; more wait in the engine, where they can be joined
	upAtMost    = 16                    // messages of the page that wait: pieces of an upload are 1 MB each

	sendPatience = 30 * time.Second
)

// NewStreams makes the struct. emit sends an event to the page; tree runs what outlives a call.
func NewStreams(door Door, emit func(name string, batch Batch), tree *svc.Tree, c clock.Clock, log *slog.Logger) *Streams {
	return &Streams{door: door, emit: emit, tree: tree, clock: c, log: log, open: map[string]*stream{}}
}

// stream is one open stream.
type stream struct {
	cancel context.CancelFunc
	up     chan json.RawMessage
	ended  <-chan struct{}

	mu    sync.Mutex
	items []json.RawMessage
	room  chan struct{} // holds a token while items has room
	fresh chan struct{} // holds a token while items are not empty
}

// Open starts a stream operation, an upload, or ("live") the live connection, under an id that the page chose.
func (s *Streams) Open(id, op string, input json.RawMessage) error {
	request := uuid.NewString()
	if id == "" || len(id) > 100 {
		return failure(errs.New(errs.Invalid, "stream_id", "A stream needs a short name of its own."), request)
	}
	ctx, cancel := context.WithCancel(obs.WithRequest(s.door.Context(), request))
	st := &stream{cancel: cancel, ended: ctx.Done(), up: make(chan json.RawMessage, upAtMost), room: make(chan struct{}, 1), fresh: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[id]; taken {
		cancel()
		return failure(errs.New(errs.Conflict, "stream_open", "This stream is open already."), request)
	}
	s.open[id] = st
	started := s.tree.Go("stream "+op, func(tree context.Context) {
		defer cancel()
		stop := context.AfterFunc(tree, cancel)
		defer stop()
		s.run(ctx, id, op, input, request, st)
	})
	if !started {
		cancel()
		delete(s.open, id)
		return failure(errs.New(errs.Unavailable, "closing", "Sentient is closing."), request)
	}
	return nil
}

// run works the operation while a second loop sends what it gives, a batch a frame.
func (s *Streams) run(ctx context.Context, id, op string, input json.RawMessage, request string, st *stream) {
	err := svc.Run(ctx,
		func(ctx context.Context) error {
			if err := s.work(ctx, op, input, st); err != nil {
				return err
			}
			return errEnded
		},
		func(ctx context.Context) error { return s.flushLoop(ctx, id, st) })
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	last := Batch{Items: st.take(), Done: true}
	if err != nil && !errors.Is(err, errEnded) && !errors.Is(err, context.Canceled) {
		s.log.Info("stream ended in an error", "operation", op, "request_id", request, "error", err)
		last.Error = failure(err, request)
	}
	s.emit("stream:"+id, last)
}

// errEnded ends the flush loop when the operation is done.
var errEnded = errors.New("stream ended")

func (s *Streams) work(ctx context.Context, op string, input json.RawMessage, st *stream) error {
	if op == "live" {
		var in api.LiveInput
		if len(input) > 0 {
			if err := json.Unmarshal(input, &in); err != nil {
				return errs.New(errs.Malformed, "not_json", "The stream's input can't be read.").Because(err)
			}
		}
		return s.door.Live(ctx, in, st)
	}
	if op == "files.upload" {
		return s.upload(ctx, op, input, st)
	}
	return s.door.Stream(ctx, op, input, func(v any) error {
		raw, err := encode(v)
		if err != nil {
			return err
		}
		return st.Send(ctx, raw)
	})
}

func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	return json.Marshal(v)
}

// upload turns the page's pieces into one body: {"piece": base64} as often as needed, then {"end": true}.
func (s *Streams) upload(ctx context.Context, op string, input json.RawMessage, st *stream) error {
	read, write := io.Pipe()
	return svc.Run(ctx,
		func(ctx context.Context) error { return write.CloseWithError(st.pieces(ctx, write)) },
		func(ctx context.Context) error {
			defer read.Close()
			out, err := s.door.Upload(ctx, op, input, read)
			if err != nil {
				return err
			}
			raw, err := encode(out)
			if err != nil {
				return err
			}
			return st.Send(ctx, raw)
		})
}

func (st *stream) pieces(ctx context.Context, to io.Writer) error {
	for {
		raw, err := st.Receive(ctx)
		if err != nil {
			return err
		}
		var message struct {
			Piece string `json:"piece"`
			End   bool   `json:"end"`
		}
		if err := json.Unmarshal(raw, &message); err != nil {
			return fmt.Errorf("decode piece: %w", err)
		}
		piece, err := base64.StdEncoding.DecodeString(message.Piece)
		if err != nil {
			return errs.New(errs.Malformed, "bad_piece", "A piece of the file can't be read.").Because(err)
		}
		if _, err := to.Write(piece); err != nil {
			return err
		}
		if message.End {
			return nil
		}
	}
}

// Send hands a message of the page to an open stream. It waits while many wait already: that is what keeps a large upload
// from running ahead of the disk.
func (s *Streams) Send(id string, message json.RawMessage) error {
	s.mu.Lock()
	st, ok := s.open[id]
	s.mu.Unlock()
	if !ok {
		return failure(errs.New(errs.NotFound, "stream_unknown", "This stream is not open."), uuid.NewString())
	}
	patience := s.clock.NewTimer(sendPatience)
	defer patience.Stop()
	select {
	case st.up <- message:
		return nil
	case <-st.ended:
		return failure(errs.New(errs.NotFound, "stream_unknown", "This stream is not open."), uuid.NewString())
	case <-patience.C():
		return failure(errs.New(errs.Limited, "stream_full", "Too much at once. Try again in a moment."), uuid.NewString())
	}
}

// Cancel ends a stream. Ending one that is not open is no error: it may just have ended by itself.
func (s *Streams) Cancel(id string) {
	s.mu.Lock()
	st, ok := s.open[id]
	s.mu.Unlock()
	if ok {
		st.cancel()
	}
}

// Send queues an item for the page, and waits while a whole batch of them waits.
func (st *stream) Send(ctx context.Context, item []byte) error {
	for {
		st.mu.Lock()
		if len(st.items) < batchAtMost {
			st.items = append(st.items, item)
			st.mu.Unlock()
			signal(st.fresh)
			return nil
		}
		st.mu.Unlock()
		select {
		case <-st.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Receive waits for a message of the page.
func (st *stream) Receive(ctx context.Context) ([]byte, error) {
	select {
	case m := <-st.up:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (st *stream) take() []json.RawMessage {
	st.mu.Lock()
	defer st.mu.Unlock()
	items := st.items
	st.items = nil
	signal(st.room)
	return items
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// flushLoop sends what there is, then lets a frame pass. The first item after a quiet time goes out at once.
func (s *Streams) flushLoop(ctx context.Context, id string, st *stream) error {
	timer := s.clock.NewTimer(frame)
	defer timer.Stop()
	for {
		select {
		case <-st.fresh:
		case <-ctx.Done():
			return ctx.Err()
		}
		if items := st.take(); len(items) > 0 {
			s.emit("stream:"+id, Batch{Items: items})
		}
		timer.Reset(frame)
		select {
		case <-timer.C():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
