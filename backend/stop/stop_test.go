package stop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/event"
	"sentient/backend/obs"
	"sentient/backend/stop"
	"sentient/backend/store"
	"sentient/backend/svc"
)

// rig is the flag of a data folder over a real database.
type rig struct {
	*stop.Service
	t      *testing.T
	dir    string
	db     *store.DB
	tree   *svc.Tree
	events *event.Subscription
}

func open(t *testing.T, dir string, parts ...stop.Part) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, tree: svc.NewTree("test", obs.Discard())}
	var err error
	if r.db, err = store.Open(t.Context(), store.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	bus := event.NewBus(clock.Real{})
	r.events = bus.Subscribe(nil, func(e *event.Event) bool { return e.Topic == stop.TopicUpdated.Info() })
	r.Service, err = stop.New(t.Context(), stop.Options{DB: r.db, Bus: bus, Clock: clock.Real{}, Log: obs.Discard(), Tree: r.tree, Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) close() {
	r.tree.Close()
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) stop(source string) *stop.Stopped {
	r.t.Helper()
	out, err := r.StopAll(r.t.Context(), &stop.StopInput{Source: source})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) resume(source string) *stop.State {
	r.t.Helper()
	out, err := r.Resume(r.t.Context(), &stop.ResumeInput{Source: source})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) heard() (n int) {
	for {
		if _, ok := r.events.Try(); !ok {
			return n
		}
		n++
	}
}

func ends(n int) func(context.Context) int { return func(context.Context) int { return n } }

func text(p *string) string {
	if p == nil {
		return "null"
	}
	return *p
}

func TestStopAndResume(t *testing.T) {
	var order []string
	part := func(name string, n int) stop.Part {
		return stop.Part{Name: name, Halt: func(context.Context) int { order = append(order, name); return n }}
	}
	r := open(t, t.TempDir(), part("replies", 2), part("runs", 1), part("broken", -7), part("dreams", 0))
	defer r.close()
	if s, err := r.Get(t.Context(), nil); err != nil || *s != (stop.State{}) || r.Stopped() {
		t.Fatalf("at first: %+v, %v", s, err)
	}
	first := r.stop("tray")
	if !first.Stopped || text(first.Source) != "tray" || first.StoppedAt == nil || first.Cancelled != 3 || !r.Stopped() {
		t.Errorf("stopped: %+v", first)
	}
	if want := "replies runs broken dreams"; strings.Join(order, " ") != want {
		t.Errorf("order %v", order)
	}
	if n := r.heard(); n != 1 {
		t.Errorf("%d events of a stop", n)
	}
	again := r.stop("hotkey")
	if text(again.Source) != "tray" || text(again.StoppedAt) != text(first.StoppedAt) || again.Cancelled != 3 || len(order) != 8 {
		t.Errorf("stopped again: %+v, %v", again, order)
	}
	if n := r.heard(); n != 0 {
		t.Errorf("%d events where nothing changed", n)
	}
	if s := r.resume("telegram"); s.Stopped || s.StoppedAt != nil || text(s.Source) != "telegram" || r.Stopped() {
		t.Errorf("resumed: %+v", s)
	}
	if n := r.heard(); n != 1 {
		t.Errorf("%d events of a resume", n)
	}
	if s := r.resume("discord"); text(s.Source) != "telegram" || r.heard() != 0 {
		t.Errorf("resumed with nothing stopped: %+v", s)
	}
	raw, err := json.Marshal(first)
	if want := `{"stopped":true,"stopped_at":"` + text(first.StoppedAt) + `","source":"tray","cancelled":3}`; string(raw) != want || err != nil {
		t.Errorf("on the wire: %s, %v", raw, err)
	}
}

func TestSources(t *testing.T) {
	for source, ok := range map[string]bool{"": true, "desktop": true, "tray": true, "hotkey": true, "telegram": true, "discord": true, "whatsapp": true, "device": true,
		"Desktop": false, "api": false, " tray": false, "device\x00": false, strings.Repeat("x", 1<<20): false} {
		t.Run(fmt.Sprintf("%.12q", source), func(t *testing.T) {
			ran := 0
			r := open(t, t.TempDir(), stop.Part{Name: "replies", Halt: func(context.Context) int { ran++; return 1 }})
			defer r.close()
			for what, do := range map[string]func() error{
				"stop":   func() error { _, err := r.StopAll(t.Context(), &stop.StopInput{Source: source}); return err },
				"resume": func() error { _, err := r.Resume(t.Context(), &stop.ResumeInput{Source: source}); return err },
			} {
				if err := do(); ok != (err == nil) || !ok && (errs.StatusOf(err) != 422 || errs.Code(err) != "stop_source_unknown") {
					t.Errorf("%s: %.80v", what, err)
				}
			}
			if (ran == 1) != ok || !ok && r.Stopped() {
				t.Errorf("ended %d parts, stopped %v", ran, r.Stopped())
			}
		})
	}
	r := open(t, t.TempDir())
	defer r.close()
	if out, err := r.StopAll(t.Context(), nil); err != nil || text(out.Source) != "desktop" {
		t.Errorf("without a body: %+v, %v", out, err)
	}
	if s, err := r.Resume(t.Context(), nil); err != nil || text(s.Source) != "desktop" || s.Stopped {
		t.Errorf("without a body: %+v, %v", s, err)
	}
}

func TestARestartStaysAsItWas(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	was := r.stop("device").State
	r.close()
	r = open(t, dir)
	if s, _ := r.Get(t.Context(), nil); !r.Stopped() || text(s.StoppedAt) != text(was.StoppedAt) || text(s.Source) != "device" {
		t.Errorf("after a restart: %+v", s)
	}
	r.resume("")
	r.close()
	r = open(t, dir)
	defer r.close()
	if s, _ := r.Get(t.Context(), nil); r.Stopped() || s.StoppedAt != nil || text(s.Source) != "desktop" {
		t.Errorf("after resume and a restart: %+v", s)
	}
}

func TestAKeptStateThatIsDamagedStopsAll(t *testing.T) {
	for _, c := range []struct {
		name, kept string
		stopped    bool
		source     string
	}{
		{"not stopped", `{"stopped":false,"stopped_at":null,"source":"tray"}`, false, "tray"},
		{"not stopped, with a left-over time", `{"stopped":false,"stopped_at":"2027-01-01T00:00:00Z","source":"tray"}`, false, "tray"},
		{"stopped", `{"stopped":true,"stopped_at":"2027-01-01T00:00:00Z","source":"hotkey"}`, true, "hotkey"},
		{"empty", ``, true, "null"},
		{"no JSON", `{"stopped":fal`, true, "null"},
		{"another type", `{"stopped":"no"}`, true, "null"},
		{"no word about it", `{"source":"tray"}`, true, "null"},
		{"null", `null`, true, "null"},
		{"a source that is none", `{"stopped":false,"source":"<b>"}`, false, "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir)
			r.keep(c.kept)
			r.close()
			r = open(t, dir)
			defer r.close()
			s, _ := r.Get(t.Context(), nil)
			if r.Stopped() != c.stopped || s.Stopped != c.stopped || text(s.Source) != c.source || !c.stopped && s.StoppedAt != nil {
				t.Errorf("%+v %s", s, text(s.Source))
			}
			if r.resume(""); r.Stopped() {
				t.Error("could not be resumed")
			}
		})
	}
}

func (r *rig) keep(value string) {
	r.t.Helper()
	if err := r.db.Write(r.t.Context(), func(tx *store.Tx) error { return r.db.SetMeta(r.t.Context(), tx, "stop.state", value) }); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) kept() string {
	r.t.Helper()
	v, _, err := r.db.Meta(r.t.Context(), "stop.state")
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func TestTheFlagIsSetAndSavedBeforeAnythingEnds(t *testing.T) {
	var r *rig
	r = open(t, t.TempDir(), stop.Part{Name: "replies", Halt: func(context.Context) int {
		if !r.Stopped() || !strings.Contains(r.kept(), `"stopped":true`) || r.heard() != 0 {
			t.Error("a part was ended before the flag stood, or told before it ended")
		}
		return 0
	}})
	defer r.close()
	r.stop("")
	r.OnResume(func(context.Context) {
		if r.Stopped() || !strings.Contains(r.kept(), `"stopped":false`) {
			t.Error("work was taken up before the flag was cleared")
		}
	})
	r.resume("")
}

func TestACallerThatGoesAwayStopsAllTheSame(t *testing.T) {
	r := open(t, t.TempDir(), stop.Part{Name: "replies", Halt: func(ctx context.Context) int {
		if ctx.Err() != nil {
			t.Error("the part's context had ended with the caller's")
		}
		return 1
	}})
	defer r.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := r.StopAll(ctx, nil); err != nil || out.Cancelled != 1 || !strings.Contains(r.kept(), `"stopped":true`) {
		t.Errorf("%+v, %v", out, err)
	}
	resumed := false
	r.OnResume(func(ctx context.Context) { resumed = ctx.Err() == nil })
	if s, err := r.Resume(ctx, nil); err != nil || s.Stopped || !resumed {
		t.Errorf("%+v, %v, taken up %v", s, err, resumed)
	}
}

// refuseFlag makes every write of the flag fail, as a disk would.
func (r *rig) refuseFlag(on bool) {
	r.t.Helper()
	q := `DROP TRIGGER refuse_flag`
	if on {
		q = `CREATE TRIGGER refuse_flag BEFORE UPDATE ON meta WHEN new.key = 'stop.state' BEGIN SELECT RAISE(ABORT, 'no'); END`
	}
	if err := r.db.Write(r.t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(q); return err }); err != nil {
		r.t.Fatal(err)
	}
}

func TestWhatCannotBeSaved(t *testing.T) {
	ended := 0
	r := open(t, t.TempDir(), stop.Part{Name: "replies", Halt: func(context.Context) int { ended++; return 1 }})
	defer r.close()
	r.stop("") // so that there is a row
	r.resume("")
	r.heard()
	r.refuseFlag(true)
	if _, err := r.StopAll(t.Context(), nil); errs.StatusOf(err) != 503 || errs.Code(err) != "stop_not_saved" || ended != 2 || !r.Stopped() || r.heard() != 1 {
		t.Errorf("stop: %v, ended %d, stopped %v", err, ended, r.Stopped())
	}
	if _, err := r.Resume(t.Context(), nil); errs.Code(err) != "resume_not_saved" || !r.Stopped() || r.heard() != 0 {
		t.Errorf("resume: %v, stopped %v", err, r.Stopped())
	}
	r.refuseFlag(false)
	if r.stop(""); ended != 3 || !strings.Contains(r.kept(), `"stopped":true`) {
		t.Errorf("pressed again: ended %d, kept %s", ended, r.kept())
	}
	if r.resume(""); r.Stopped() || !strings.Contains(r.kept(), `"stopped":false`) {
		t.Errorf("resumed: kept %s", r.kept())
	}
}

func TestPartsThatDoNotEndAreLeftBehind(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var obedient atomic.Bool
		release := make(chan struct{})
		r := open(t, dir,
			stop.Part{Name: "panics", Halt: func(context.Context) int { panic("out of paper") }},
			stop.Part{Name: "hangs", Halt: func(context.Context) int { <-release; return 100 }},
			stop.Part{Name: "obeys late", Halt: func(ctx context.Context) int { <-ctx.Done(); obedient.Store(true); return 2 }},
			stop.Part{Name: "quick", Halt: ends(1)})
		began := time.Now()
		out := r.stop("")
		if took := time.Since(began); out.Cancelled != 3 || took > 10*time.Second || !obedient.Load() {
			t.Errorf("%+v after %v", out, took)
		}
		r.OnResume(func(context.Context) { panic("torn") })
		taken := false
		r.OnResume(func(context.Context) { taken = true })
		if r.resume(""); !taken {
			t.Error("one that panics kept the others from being taken up")
		}
		close(release)
		synctest.Wait()
		r.close()
	})
}

// A stop that comes while a resume takes work up: the flag counts at once, nothing more is taken up, and what was is ended.
func TestAStopDuringAResumeWins(t *testing.T) {
	var running atomic.Int32
	var r *rig
	r = open(t, t.TempDir(), stop.Part{Name: "runs", Halt: func(context.Context) int { return int(running.Swap(0)) }})
	defer r.close()
	r.stop("")
	var wg sync.WaitGroup
	r.OnResume(func(context.Context) {
		running.Add(1)
		wg.Go(func() { r.stop("hotkey") })
		for !r.Stopped() {
			runtime.Gosched()
		}
	})
	r.OnResume(func(context.Context) { t.Error("taken up although stopped again") })
	r.resume("")
	wg.Wait()
	if s, _ := r.Get(t.Context(), nil); !r.Stopped() || text(s.Source) != "hotkey" || running.Load() != 0 {
		t.Errorf("%+v, %d run", s, running.Load())
	}
}

func TestManyAtOnceAreOneAfterTheOther(t *testing.T) {
	var inside atomic.Int32
	r := open(t, t.TempDir(), stop.Part{Name: "runs", Halt: func(context.Context) int {
		if inside.Add(1) != 1 {
			t.Error("two stops at once")
		}
		inside.Add(-1)
		return 0
	}})
	defer r.close()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if i%2 == 0 {
				r.stop("")
			} else {
				r.resume("")
			}
		})
	}
	wg.Wait()
	s, _ := r.Get(t.Context(), nil)
	if s.Stopped != r.Stopped() || s.Stopped != strings.Contains(r.kept(), `"stopped":true`) || s.Stopped != (s.StoppedAt != nil) {
		t.Errorf("%+v, flag %v, kept %s", s, r.Stopped(), r.kept())
	}
	// What was told last is the state.
	last := stop.State{}
	for {
		e, ok := r.events.Try()
		if !ok {
			break
		}
		next, _ := event.Is(stop.TopicUpdated, e)
		if next.Stopped == last.Stopped {
			t.Error("told a change that was none")
		}
		last = next
	}
	if last.Stopped != s.Stopped {
		t.Errorf("told %v last, is %v", last.Stopped, s.Stopped)
	}
}

func TestAFlagThatCannotBeReadKeepsTheEngineFromStarting(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.close()
	if _, err := stop.New(t.Context(), stop.Options{DB: r.db, Bus: event.NewBus(clock.Real{}), Clock: clock.Real{}, Log: obs.Discard(), Tree: r.tree}); err == nil {
		t.Error("a closed database gave a flag")
	}
}
