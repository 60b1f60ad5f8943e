package agent_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sentient/backend/agent"
	"sentient/backend/event"
	"sentient/backend/llm"
	"sentient/backend/llm/scripted"
	"sentient/backend/session"
	"sentient/backend/transcript"
)

const childDir = "SENTIENT_TEST_KILL_DIR"

// TestKillChild is the engine that TestKill kills. It says on standard output what it acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs only as the child of TestKill")
	}
	r := openRig(t, dir, scripted.By(func(llm.Request) scripted.Step {
		step := scripted.Step{}
		for i := range 12 {
			step.Pieces = append(step.Pieces, scripted.Piece{Text: fmt.Sprintf("piece %d ", i), Wait: 30 * time.Millisecond})
		}
		return step
	}), nil)
	chats := make([]string, 3)
	for i := range chats {
		out, err := r.chats.Create(t.Context(), &session.CreateInput{})
		if err != nil {
			t.Fatal(err)
		}
		chats[i] = out.SessionID
	}
	for i := 0; ; i++ {
		out := r.send(agent.SendInput{Text: fmt.Sprintf("message %d of %d", i, os.Getpid()), SessionID: chats[i%len(chats)]})
		fmt.Printf("\nsent %s %s message %d of %d\n", out.SessionID, out.TurnID, i, os.Getpid())
		if i%5 == 4 {
			r.until(isDone) // lets the queues shrink now and then
			for r.count(`SELECT count(*) FROM open_replies`) == 0 {
				r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
			}
			fmt.Printf("\nsaved\n")
		}
	}
}

// TestKill kills the engine again and again in the middle of replies (R1, R14): each acknowledged message is there
// once, each turn has one end, what was saved of a reply is kept, and nothing is answered twice.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(7, 7))
	sent := map[string]bool{} // by text
	for i := range 4 {
		killAfter(t, dir, 5+rnd.IntN(15), i%2 == 0, sent)
	}
	r := openRig(t, dir, scripted.New(), nil)
	for text := range sent {
		if n := r.count(`SELECT count(*) FROM messages WHERE role = 'user' AND content = ?`, text); n != 1 {
			t.Errorf("%q stands %d times", text, n)
		}
	}
	for what, q := range map[string]string{
		"open turns":                `SELECT count(*) FROM turns WHERE state IN ('queued', 'running')`,
		"turns without one done":    `SELECT count(*) FROM turns WHERE (SELECT count(*) FROM chat_events e WHERE e.turn_id = turns.id AND kind = 'done') <> 1`,
		"replies to nothing":        `SELECT count(*) FROM turns WHERE (SELECT count(*) FROM messages m WHERE m.turn_id = turns.id AND role = 'assistant') > (SELECT count(*) FROM messages m WHERE m.turn_id = turns.id AND role = 'user')`,
		"waiting steers":            `SELECT count(*) FROM steers WHERE state = 'waiting'`,
		"pieces left behind":        `SELECT count(*) FROM open_replies`,
		"unsent without a mark":     `SELECT count(*) FROM turns WHERE state = 'unsent' AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn_id = turns.id AND name = 'not_sent')`,
		"stopped without a mark":    `SELECT count(*) FROM turns WHERE state = 'stopped' AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.turn_id = turns.id AND name = 'interrupted')`,
		"replies that are no start": `SELECT count(*) FROM messages WHERE role = 'assistant' AND instr('` + wholeReply + `', content) <> 1`,
		"messages not in the log":   `SELECT count(*) FROM messages WHERE n NOT IN (SELECT n FROM chat_events)`,
		"failed integrity":          `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	} {
		if n := r.count(q); n != 0 {
			t.Error(n, what)
		}
	}
	if n := r.count(`SELECT count(*) FROM messages WHERE role = 'assistant' AND cancelled`); n == 0 {
		t.Error("no partial reply was kept in four kills")
	}
	t.Log(len(sent), "acknowledged,", r.count(`SELECT count(*) FROM turns`), "turns,", r.count(`SELECT count(*) FROM messages WHERE cancelled`), "partial replies")
}

const wholeReply = "piece 0 piece 1 piece 2 piece 3 piece 4 piece 5 piece 6 piece 7 piece 8 piece 9 piece 10 piece 11 "

// killAfter runs the child and kills it once it has acknowledged n messages and, where saved is true, has a part of a
// reply in its database.
func killAfter(t *testing.T, dir string, n int, saved bool, sent map[string]bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	got := 0
	for lines.Scan() {
		var session, turn string
		if lines.Text() == "saved" {
			if saved && got >= n {
				kill(t, cmd)
			}
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "sent %s %s", &session, &turn); err != nil {
			if strings.TrimSpace(lines.Text()) != "" {
				t.Log(lines.Text())
			}
			continue
		}
		_, text, _ := strings.Cut(lines.Text(), turn+" ")
		sent[text] = true
		if got++; got == n && !saved {
			kill(t, cmd)
		}
	}
	_ = cmd.Wait() // killed
	if got < n {
		t.Fatal("the child ended by itself")
	}
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// A reply that a crash ended is kept as far as it was saved, under the id that its done names.
func TestRecoverKeepsThePartialReply(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted.New(scripted.Step{Pieces: []scripted.Piece{{Thinking: "t1"}, {Text: strings.Repeat("é", 1100)}, {Text: "tail"}}, Hang: true}))
	out := r.send(agent.SendInput{Text: "Q"})
	b := r.queue(agent.SendInput{Text: "B", SessionID: out.SessionID})
	for r.count(`SELECT count(*) FROM open_replies`) == 0 {
		r.until(func(e *event.Event) bool { return e.Topic == transcript.TopicTextDelta.Info() })
		if err := r.log.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	crashed := copyFolder(t, r.dir)
	again := openRig(t, crashed, scripted.New(scripted.Say("fine")), nil)
	rows := again.messages(out.SessionID)
	if len(rows) != 5 || rows[1].Role != "assistant" || !rows[1].Cancelled || *rows[1].Thinking != "t1" ||
		!strings.HasPrefix(rows[1].Content, strings.Repeat("é", 1100)) || *rows[2].Name != "interrupted" || rows[3].Content != "B" || *rows[4].Name != "not_sent" {
		t.Fatal(again.said(out.SessionID))
	}
	lines, ended, err := again.log.Told(t.Context(), transcript.Ref{SessionID: out.SessionID, TurnID: out.TurnID})
	if err != nil || !ended {
		t.Fatal(err)
	}
	d := lines[len(lines)-1].Payload.(transcript.DoneEvent)
	if !d.Cancelled || *d.MessageID != rows[1].ID || d.Content != rows[1].Content {
		t.Fatal(d)
	}
	_, ended, err = again.log.Told(t.Context(), transcript.Ref{SessionID: out.SessionID, TurnID: b.TurnID})
	if err != nil || !ended {
		t.Fatal("the message that waited has no end", err)
	}
	next := again.send(agent.SendInput{Text: "C", SessionID: out.SessionID})
	if d := again.done(next.TurnID); d.Content != "fine" {
		t.Fatal(d)
	}
}

// copyFolder copies a data folder as a crash would leave it.
func copyFolder(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
