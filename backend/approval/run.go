package approval

import (
	"context"
	"maps"
	"slices"
	"sync"

	"sentient/backend/approval/evidence"
	"sentient/backend/approval/outside"
	"sentient/backend/tool"
)

// Begin is what a run starts with.
type Begin struct {
	Surface Surface
	Context tool.Context // what each call of the run knows
	Words   []string     // the person's own message of this turn, as typed or spoken; none in another app's
	Mark    string       // what the run has read from its start, besides what its chat has
	Past    func(ctx context.Context) ([]Passed, error)
}

// Passed is a message of the past, as the chat's log has it.
type Passed struct {
	Role    string // user, other, tool
	From    string // user, other: who wrote it, where that is not the person
	Text    string
	Tool    string // tool: its name
	Args    []byte
	Outside string // tool: where it was read from, when someone else wrote it
	OnPath  bool   // it stands in what the model reads; what another branch read is known too
}

// Run is the gate of one run: a turn, or a helper that a turn started. It knows what the run has read. One goroutine
// judges and settles; calls may be carried out side by side.
type Run struct {
	*known
	s       *Service
	surface Surface
	call    tool.Context
	past    func(ctx context.Context) ([]Passed, error)
	round   round
}

// round is what a model knew when it chose the calls of a round: what those calls bring in does not affect the others
// (§10).
type round struct {
	mark    string
	visited map[string]bool
}

// known is what a run, and all that it starts, has read and loaded.
type known struct {
	mu       sync.Mutex
	mark     string
	visited  map[string]bool
	evidence *evidence.Evidence // nil: not read yet
	values   *outside.Values
	turn     []string
	fresh    []evidence.Result // of this run, before its past was read
	loaded   []string
}

// Begin begins a run. The chat's mark counts from its start; a chat that was never looked at is classified by what it holds
// (§10). An error ends the turn: without the mark nothing may run.
func (s *Service) Begin(ctx context.Context, b Begin) (*Run, error) {
	r := &Run{s: s, surface: b.Surface, call: b.Context, past: b.Past, known: &known{mark: b.Mark, visited: map[string]bool{}, turn: slices.Clone(b.Words)}}
	if b.Context.SessionID != "" {
		if err := r.readMark(ctx, b.Mark); err != nil {
			return nil, err
		}
	}
	r.Round()
	return r, nil
}

func (r *Run) readMark(ctx context.Context, own string) error {
	session := r.call.SessionID
	source, looked, visited, err := r.s.Chats.Mark(ctx, session)
	if err != nil {
		return err
	}
	for _, host := range visited {
		r.visited[host] = true
	}
	if !looked && source == "" {
		e, err := r.read(ctx)
		if err != nil {
			return err
		}
		source = firstOutside(e)
		if err := r.s.Chats.SetMark(ctx, session, source); err != nil {
			return err
		}
	}
	if source == "" && own != "" {
		source = own
		if err := r.s.Chats.SetMark(ctx, session, source); err != nil {
			return err
		}
	}
	if source != "" {
		r.mark = source
	}
	return nil
}

func firstOutside(e *evidence.Evidence) string {
	for _, p := range e.Others {
		return p.Source
	}
	for _, result := range e.Results {
		if result.Outside {
			return result.Source
		}
	}
	return ""
}

// Child gives the run of something that this run starts: it shares what is known, so that what a helper reads marks the
// chat, and a helper of a marked run is marked.
func (r *Run) Child(surface Surface, c tool.Context) *Run {
	child := &Run{s: r.s, surface: surface, call: c, past: r.past, known: r.known}
	child.Round()
	return child
}

// Round begins a round: what is known now is what the model knew when it chose the calls that follow.
func (r *Run) Round() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round = round{mark: r.mark, visited: maps.Clone(r.visited)}
}

// Hear takes in what the person said into the running reply.
func (r *Run) Hear(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn = append(r.turn, text)
	if r.evidence != nil {
		r.evidence.Words = append(r.evidence.Words, text)
		r.evidence.Turn = append(r.evidence.Turn, text)
	}
}

// Untrusted gives what the run has read that someone else wrote; "": nothing.
func (r *Run) Untrusted() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

// words gives what the person said in this turn.
func (r *Run) words() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.turn)
}

// read gives what the run knows, reading its chat the first time.
func (r *Run) read(ctx context.Context) (*evidence.Evidence, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.readLocked(ctx)
	if err != nil {
		return nil, err
	}
	now := *e // what comes later is added behind what this copy holds
	return &now, nil
}

func (r *Run) readLocked(ctx context.Context) (*evidence.Evidence, error) {
	if r.evidence != nil {
		return r.evidence, nil
	}
	e := &evidence.Evidence{Turn: slices.Clone(r.turn), UserName: r.s.Settings().UserName, Records: r.s.Records, Loaded: slices.Clone(r.loaded)}
	var past []Passed
	if r.past != nil {
		var err error
		if past, err = r.past(ctx); err != nil {
			return nil, err
		}
	}
	for _, p := range past {
		r.s.addPast(ctx, e, p)
	}
	for _, w := range r.turn {
		if !slices.Contains(e.Words, w) {
			e.Words = append(e.Words, w)
		}
	}
	e.Results = append(e.Results, r.fresh...)
	r.evidence, r.values = e, outside.NewValues()
	for _, result := range e.Results {
		r.values.Add(result)
	}
	return e, nil
}

// addPast adds a message of the past to what is known.
func (s *Service) addPast(ctx context.Context, e *evidence.Evidence, p Passed) {
	switch {
	case p.Role == "tool":
		e.Results = append(e.Results, s.pastResult(ctx, p))
	case p.Role == "other":
		e.Others = append(e.Others, evidence.Passage{Source: outside.GroupSource(p.From), Text: p.Text})
	case p.From != "":
		e.Others = append(e.Others, evidence.Passage{Source: p.From, Text: p.Text})
	case p.OnPath:
		e.Words = append(e.Words, p.Text)
	}
}

// pastResult reads a stored result. One whose tool is no longer there may have held anything.
func (s *Service) pastResult(ctx context.Context, p Passed) evidence.Result {
	result := evidence.Result{Tool: p.Tool, Args: p.Args, Text: p.Text, Source: p.Outside, Outside: p.Outside != "", Private: true}
	t, plugin, ok := s.Tools.Find(p.Tool)
	if !ok {
		if !result.Outside && !neverRan(p.Text) {
			result.Source, result.Outside = goneTool, true
		}
		return result
	}
	result.App, result.Private = plugin.ID, !plugin.Public
	if source := s.source(ctx, t, plugin, p.Args, []byte(p.Text)); !result.Outside && source != "" {
		result.Source, result.Outside = source, true
	}
	if result.Source == "" {
		result.Source = plugin.Name
	}
	return result
}

const goneTool = "a tool that is no longer available"
