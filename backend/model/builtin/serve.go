package builtin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"time"

	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/svc"
)

// The refusals.
var (
	errMissing = errs.New(errs.Unavailable, llm.CodeModelUnknown,
		"There is no built-in model on this computer yet. Download it in Settings > Models, or pick another model there.")
	errStopping = errs.New(errs.Unavailable, llm.CodeUnreachable,
		"The built-in model is not running because Sentient is closing.")
	errDied = errs.New(errs.Unavailable, llm.CodeBroken,
		"The built-in model stopped in the middle of its answer. Ask again: it starts anew.")
)

const (
	notStarted = "The built-in model did not start. Try again, or pick another model in Settings > Models."
	notEnough  = "The built-in model was ended by the computer, which may be short of memory. Close other programs and try again, or pick another model in Settings > Models."
	noLibrary  = "The built-in model needs a part of the system that is not installed: %s. Install it and try again, or pick another model in Settings > Models."
	cannotRun  = "The built-in model's program cannot run on this computer. Pick another model in Settings > Models."
)

// lacking is how the loader names a library that it does not find. A bare Linux has no libgomp.
var lacking = regexp.MustCompile(`(lib[A-Za-z0-9_.+-]+\.so[0-9.]*): cannot open shared object file`)

// firstDelay and lastDelay bound how long a server that keeps dying is left alone. The first death costs no delay.
const (
	firstDelay = time.Second
	lastDelay  = time.Minute
)

// Serve runs servers one after the other, each for as long as it is used, until ctx ends.
func (s *Service) Serve(ctx context.Context) error {
	// Linux ends the server when the thread that started it ends (see ownGroup), so that thread must live as long as
	// this function: it is locked here and never unlocked, which also ends it with this function.
	runtime.LockOSThread()
	s.endLeftover(ctx)
	if _, err := s.find(); err != nil {
		s.o.Log.Warn("built-in model cannot be used", "error", err)
	}
	s.setClosed(false)
	defer s.setClosed(true)
	for s.awaitWanted(ctx) {
		s.run(ctx)
	}
	return ctx.Err()
}

func (s *Service) setClosed(closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = closed
	s.touchLocked()
}

// awaitWanted waits until somebody wants a server and one may be started; false when ctx ended.
func (s *Service) awaitWanted(ctx context.Context) bool {
	for {
		s.mu.Lock()
		wanted, wait := s.wanted, s.notBefore.Sub(s.o.Clock.Now())
		s.mu.Unlock()
		if ctx.Err() != nil {
			return false
		}
		if wanted && wait <= 0 {
			return true
		}
		if !wanted {
			select {
			case <-ctx.Done():
			case <-s.wake:
			}
			continue
		}
		timer := s.o.Clock.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// run is one server's life, from start to end.
func (s *Service) run(ctx context.Context) {
	f, err := s.find()
	if f == nil {
		s.failed(nil, errors.Join(errors.New("no model"), err), errMissing.Message)
		return
	}
	sv, err := s.start(f)
	if err != nil {
		s.failed(nil, err, cannotRun)
		return
	}
	s.mu.Lock()
	s.server = sv
	s.touchLocked()
	s.mu.Unlock()
	s.o.Log.Info("built-in model starts", "model", f.Name, "context", sv.context, "pid", sv.cmd.Process.Pid)

	var loadErr error
	svc.Run(ctx,
		func(context.Context) error {
			sv.exit = sv.cmd.Wait()
			close(sv.exited)
			sv.end(errExited)
			return nil
		},
		func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(sv.life, cancel)()
			if loadErr = s.load(ctx, sv); loadErr == nil {
				s.loaded(sv)
				s.watch(ctx, sv)
			}
			s.stop(sv, errClosing)
			return nil
		})
	sv.untie()
	s.eraseRecord()
	s.ended(ctx, sv, loadErr)
}

// loaded opens the server for questions.
func (s *Service) loaded(sv *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sv.ready, sv.lastUse = true, s.o.Clock.Now()
	s.wanted, s.failure = false, ""
	s.touchLocked()
	s.o.Log.Info("built-in model is loaded", "model", sv.model.Name)
}

// watch comes back when the server is to end: it was idle, is to be replaced, ended by itself, or ctx ended.
func (s *Service) watch(ctx context.Context, sv *server) {
	for {
		s.mu.Lock()
		left := s.o.Idle
		if sv.users == 0 {
			left = sv.lastUse.Add(s.o.Idle).Sub(s.o.Clock.Now())
		}
		if left <= 0 {
			// Under the lock, so that no question gets this server any more.
			sv.end(errIdle)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		timer := s.o.Clock.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-sv.life.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// ended takes note of how a server ended.
func (s *Service) ended(ctx context.Context, sv *server, loadErr error) {
	why := context.Cause(sv.life)
	switch {
	case ctx.Err() != nil:
		s.release(sv)
	case loadErr != nil:
		sentence := notStarted
		if lib := lacking.FindStringSubmatch(sv.out.String()); lib != nil {
			sentence = fmt.Sprintf(noLibrary, lib[1])
		} else if errors.Is(why, errExited) && killed(sv.cmd) {
			sentence = notEnough
		}
		s.failed(sv, errors.Join(loadErr, sv.exit), sentence)
	case errors.Is(why, errExited):
		s.failed(sv, errors.Join(errExited, sv.exit), errDied.Message)
	default:
		s.o.Log.Info("built-in model is unloaded", "reason", why)
		s.release(sv)
	}
}

func (s *Service) release(sv *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == sv {
		s.server = nil
	}
	s.touchLocked()
}

// failed notes a start that failed or a server that died (sv, nil when none came up), and when the next may start.
func (s *Service) failed(sv *server, cause error, sentence string) {
	output := ""
	if sv != nil {
		output = sv.out.String()
	}
	s.o.Log.Warn("built-in model failed", "error", cause, "output", output)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = nil
	s.failure = sentence
	if sv == nil || !sv.ready {
		s.wanted = false
		s.failedStarts++
	}
	s.notBefore = s.o.Clock.Now().Add(delay(s.crashes))
	s.crashes++
	s.touchLocked()
}

// delay is the pause after the nth failure in a row, counted from 0.
func delay(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return min(firstDelay<<min(n-1, 10), lastDelay)
}

// acquire gives a loaded server, starting one when there is none, and the function that gives it back. wait is called once
// before it has to wait.
func (s *Service) acquire(ctx context.Context, wait func() error) (*server, func(), error) {
	f, err := s.find()
	if f == nil {
		return nil, nil, errMissing.Because(err)
	}
	s.mu.Lock()
	failedStarts := s.failedStarts
	s.mu.Unlock()
	for told := false; ; {
		sv, changed, err := s.tryAcquire(f, failedStarts)
		if err != nil {
			return nil, nil, err
		}
		if sv != nil {
			return sv, func() { s.giveBack(sv) }, nil
		}
		if !told {
			told = true
			if err := wait(); err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-changed:
		}
	}
}

// tryAcquire gives a server, or a channel that closes when it is worth asking again, or an error when a start failed since
// failedStarts was read.
func (s *Service) tryAcquire(f *found, failedStarts int) (*server, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errStopping
	}
	if sv := s.server; sv != nil && sv.ready && sv.life.Err() == nil {
		if sv.users > 0 || !s.outdated(sv, f) {
			sv.users++
			return sv, nil, nil
		}
		sv.end(errReplaced)
	}
	if s.failedStarts != failedStarts {
		return nil, nil, errs.New(errs.Unavailable, llm.CodeUnreachable, s.failure)
	}
	s.wanted = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil, s.changed, nil
}

// outdated says whether an unused server should make way: a better model came, or the person changed the context length.
func (s *Service) outdated(sv *server, f *found) bool {
	return sv.model.File != f.File || sv.context != s.contextFor(f)
}

func (s *Service) giveBack(sv *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sv.users--
	sv.lastUse = s.o.Clock.Now()
	s.touchLocked()
}
