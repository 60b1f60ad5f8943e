package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"sentient/backend/approval"
	"sentient/backend/errs"
	"sentient/backend/llm"
	"sentient/backend/svc"
	"sentient/backend/tool"
	"sentient/backend/transcript"
)

// loop is the one loop of rounds, for turns and helpers alike: ask the model, carry out the calls it asks for, ask again
// with what they gave, until it answers. It ends by itself: after its rounds are used up, when calls repeat themselves,
// when its budget is gone.
type loop struct {
	*Service
	ctx      context.Context
	call     tool.Context // what each call knows; CallID and Progress are set a call
	face     face
	choice   llm.Choice
	messages []llm.Message
	tools    []*tool.Tool
	rounds   int  // the most rounds
	strict   bool // using them up is a failure; else the model is made to answer with the last
	gate     *approval.Run
	notice   func(transcript.Notice)
	ears     ears
	nudges   bool // a repeat is first told to the model
	spent    func(u llm.Usage) error
	again    func(why error) bool // another model may answer the first round after this error; it has been chosen then

	round    int
	closing  bool              // the model was asked for its answer now
	thought  bool              // the open text turned out to be thinking
	resultMx int               // characters of a result that the model reads
	unread   map[string]error  // why the arguments of this round's calls cannot be read
	swapped  map[string]string // what the results of those say that go to the trash instead of being deleted for good
	repeats  repeats
	run
}

// run is what the rounds of a turn found out.
type run struct {
	Calls, Errors int
	Memories      []tool.MemorySource
	Sources       []tool.Source
	Checks        []transcript.Check
	Written       []string // files that calls made, for a helper's result
	findings      []finding
}

// face is where a loop's progress shows and is kept: a chat's reply, or a helper's record.
type face interface {
	Add(thinking, text string) bool
	Correct(thinking, text string)
	Text() string
	Fold(ctx context.Context, calls []transcript.Call, usage *transcript.Usage) error
	Call(ctx context.Context, calls ...transcript.Call) error
	Progress(call transcript.Call, p tool.Progress)
	Result(ctx context.Context, c transcript.CallResult) error
}

// ears take in what is said while a loop works. A helper has none.
type ears interface {
	// take gives what was said since the last look. With last nothing more is taken, until listen.
	take(last bool) []transcript.Steer
	// read keeps that the model reads it from here on.
	read(ctx context.Context, said []transcript.Steer) error
	putBack(said []transcript.Steer)
	listen()
}

type deaf struct{}

func (deaf) take(bool) []transcript.Steer { return nil }
func (deaf) putBack([]transcript.Steer)   {}
func (deaf) listen()                      {}

func (deaf) read(context.Context, []transcript.Steer) error { return nil }

// maxRounds is how many rounds a chat's turn may take. A person is there to stop it or to send it on.
const maxRounds = 64

// work runs rounds until there is an answer. The usage is that of the last model call, which the turn's end keeps.
func (l *loop) work() (*transcript.Usage, error) {
	for l.round = 1; ; l.round++ {
		if l.round > 1 {
			if err := l.hear(l.ears.take(false)); err != nil {
				return nil, err
			}
		}
		if l.strict && l.round > l.rounds {
			return nil, errs.Newf(errs.Limited, "rounds_used_up", "Stopped after %d steps without finishing.", l.rounds)
		}
		if !l.strict && l.round >= l.rounds {
			l.askForAnswer()
		}
		reply, usage, err := l.ask()
		if err != nil {
			return usage, err
		}
		calls := l.read(reply.ToolCalls)
		var done bool
		if len(calls) == 0 || l.closing {
			done, err = l.answered(reply, usage)
		} else {
			done, err = l.act(reply, calls, usage)
		}
		if done || err != nil {
			return usage, err
		}
	}
}

// hear gives the model what was said into the reply. What cannot be written down is put back.
func (l *loop) hear(said []transcript.Steer) error {
	if len(said) == 0 {
		return nil
	}
	if err := l.ears.read(l.ctx, said); err != nil {
		l.ears.putBack(said)
		return err
	}
	for _, s := range said {
		l.gate.Hear(s.Text)
		l.messages = joinUser(l.messages, llm.Message{Role: llm.User, Text: s.Text})
	}
	return nil
}

// askForAnswer tells the model that it must answer now.
func (l *loop) askForAnswer() {
	if l.closing {
		return
	}
	l.closing = true
	l.messages = joinUser(l.messages, llm.Message{Role: llm.User, Text: l.prompts.note("final", nil)})
}

// ask calls the model, once more with the default where the chat's own model fails before it said anything.
func (l *loop) ask() (llm.Reply, *transcript.Usage, error) {
	reply, asked, err := l.stream()
	if err != nil && l.round == 1 && l.face.Text() == "" && l.again != nil && l.again(err) {
		reply, asked, err = l.stream()
	}
	usage := meter(l.choice, asked, reply)
	if err == nil && l.spent != nil {
		err = l.spent(reply.Usage)
	}
	if err != nil && reply.Usage == (llm.Usage{}) {
		usage = nil // the call may never have been made
	}
	return reply, usage, err
}

// offered gives the tools as a model reads them.
func (l *loop) offered() []llm.Tool {
	offered := make([]llm.Tool, len(l.tools))
	for i, t := range l.tools {
		offered[i] = llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	return offered
}

// stream asks the model and passes on what it says. A loop that is stopped does not wait for a model that goes on.
func (l *loop) stream() (llm.Reply, llm.Request, error) {
	request := l.choice.Request(nil)
	request.Tools = l.offered()
	request.Messages = fit(l.messages, l.choice.ContextLength, toolTokens(request.Tools))
	reply, err := l.once(request)
	if errs.Code(err) == llm.CodeNoTools && len(request.Tools) > 0 && l.face.Text() == "" {
		l.tools, request.Tools = nil, nil
		reply, err = l.once(request)
	}
	return reply, request, err
}

func (l *loop) once(request llm.Request) (llm.Reply, error) {
	type answer struct {
		reply llm.Reply
		err   error
	}
	got := make(chan answer, 1)
	model, name := l.choice.Model, l.choice.Name
	started := l.Tree.Go("model call", func(context.Context) {
		a := answer{err: fmt.Errorf("model call ended without an answer")}
		defer func() {
			if p := recover(); p != nil {
				l.Log.Error("model panicked", "model", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				a.err = fmt.Errorf("model panicked: %v", p)
			}
			got <- a
		}()
		a.reply, a.err = model.Stream(l.ctx, request, l.take)
	})
	if !started {
		return llm.Reply{}, tool.ErrClosing
	}
	a, ended := svc.Await(l.ctx, l.Clock, got)
	if !ended {
		l.Log.Warn("model did not stop", "model", name)
		return llm.Reply{}, context.Cause(l.ctx)
	}
	return a.reply, a.err
}

// take takes one piece of what the model says.
func (l *loop) take(d llm.Delta) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	if d.Note != "" {
		l.notice(transcript.Notice{Code: "model_waiting", Message: d.Note})
	}
	l.thought = l.thought || d.Thought
	if (d.Text != "" || d.Thinking != "") && !l.face.Add(d.Thinking, d.Text) {
		return context.Canceled
	}
	return nil
}

// level makes what was shown of an answer equal to it: text that turned out to be thinking, and what a service that does
// not stream gave only at the end. It gives the text.
func (l *loop) level(reply llm.Reply) string {
	shown := l.face.Text()
	if l.thought && strings.TrimSpace(reply.Text) != "" {
		l.face.Correct(reply.Thinking, reply.Text)
		shown = reply.Text
	}
	l.thought = false
	if rest, ok := strings.CutPrefix(reply.Text, shown); ok && rest != "" && l.face.Add("", rest) {
		shown = reply.Text
	}
	return shown
}

// complete settles an answer without calls.
func (l *loop) complete(reply llm.Reply) error {
	if strings.TrimSpace(l.level(reply)) == "" {
		if reply.Finish == llm.FinishFilter {
			return errs.New(errs.Unavailable, llm.CodeModelRefused, "The model's service held its answer back. Ask in other words, or pick another model in Settings > Models.")
		}
		return errs.New(errs.Unavailable, llm.CodeBroken, "The model gave no answer. Try again, or pick another model in Settings > Models.")
	}
	if reply.Finish == llm.FinishLength {
		l.notice(transcript.Notice{Code: "reply_cut", Message: "The model reached its length limit before the answer was complete. Ask it to go on."})
	}
	return nil
}

// read gives the calls of an answer with ids that no other call of this loop has.
func (l *loop) read(asked []llm.ToolCall) []transcript.Call {
	calls := make([]transcript.Call, 0, len(asked))
	l.unread, l.swapped = map[string]error{}, map[string]string{}
	taken := map[string]bool{}
	for _, m := range l.messages {
		for _, c := range m.ToolCalls {
			taken[c.ID] = true
		}
	}
	for _, c := range asked {
		if taken[c.ID] || c.ID == "" {
			c.ID = llm.NewCallID()
		}
		taken[c.ID] = true
		args := l.arguments(c)
		if l.unread[c.ID] == nil {
			if c.Name, l.swapped[c.ID] = l.gate.Swap(c.Name, args); l.swapped[c.ID] != "" {
				c.Arguments = args
				args = l.arguments(c)
			}
		}
		calls = append(calls, transcript.Call{ID: c.ID, Name: validName(c.Name), Arguments: args})
	}
	return calls
}

// nameLength is how much of a tool's name is kept, in bytes: a model may write anything.
const nameLength = 128

func validName(name string) string {
	return cmp.Or(cut(strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD")), nameLength), "unnamed")
}

// arguments gives a call's arguments in their one form, or what the model wrote where they have none.
func (l *loop) arguments(c llm.ToolCall) json.RawMessage {
	if t, _, ok := l.Tools.Find(c.Name); ok {
		args, err := t.Prepare(c.Arguments)
		if err == nil {
			return args
		}
		l.unread[c.ID] = err
	}
	var object map[string]any
	if json.Unmarshal(c.Arguments, &object) == nil && object != nil {
		if args, err := json.Marshal(object); err == nil {
			return args
		}
	}
	args, _ := json.Marshal(map[string]string{"unreadable": cut(string(c.Arguments), 4000)}) // strings always encode
	return args
}

// act carries out the calls of a round.
func (l *loop) act(reply llm.Reply, calls []transcript.Call, usage *transcript.Usage) (done bool, err error) {
	l.level(reply)
	if err := l.face.Fold(l.ctx, calls, usage); err != nil {
		return false, err
	}
	m := llm.Message{Role: llm.Assistant, Text: reply.Text, Thinking: reply.Thinking}
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	l.messages = append(l.messages, m)
	results, err := l.carryOut(calls)
	if err != nil {
		return false, err
	}
	for i, r := range results {
		l.messages = append(l.messages, llm.Message{Role: llm.ToolRole, Text: r.read, ToolCallID: calls[i].ID, ToolName: calls[i].Name})
	}
	if l.repeats.over {
		return true, l.stopRepeating()
	}
	return false, nil
}

// stopRepeating ends a turn that repeats itself with a plain reply (§10, loop breaker). A helper ends with an error.
func (l *loop) stopRepeating() error {
	said := l.prompts.note("repeated", l.repeats)
	if !l.nudges {
		return errs.New(errs.Conflict, "repeated_call", said)
	}
	if !l.face.Add("", said) {
		return context.Cause(l.ctx)
	}
	return nil
}

// answered settles an answer without calls: the turn's end, unless something was said meanwhile, or it is empty.
func (l *loop) answered(reply llm.Reply, usage *transcript.Usage) (done bool, err error) {
	if strings.TrimSpace(reply.Text) == "" && l.Calls > 0 {
		if !l.closing {
			l.askForAnswer()
			return false, l.fold(llm.Message{}, usage)
		}
		reply.Text = l.face.Text() + l.foundSoFar() // blanks may have been shown
	}
	if err := l.complete(reply); err != nil {
		return false, err
	}
	said := l.ears.take(true)
	if len(said) == 0 {
		return true, nil
	}
	if l.round >= l.rounds {
		l.ears.putBack(said)
		return true, nil
	}
	if err := l.fold(llm.Message{Role: llm.Assistant, Text: l.face.Text()}, usage); err != nil {
		l.ears.putBack(said)
		return false, err
	}
	l.closing = false
	if err := l.hear(said); err != nil {
		return false, err
	}
	l.ears.listen()
	return false, nil
}

// fold closes the open message and gives it to the model as said.
func (l *loop) fold(m llm.Message, usage *transcript.Usage) error {
	if err := l.face.Fold(l.ctx, nil, usage); err != nil {
		return err
	}
	if m.Role != "" {
		l.messages = append(l.messages, m)
	}
	return nil
}
