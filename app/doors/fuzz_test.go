package doors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"sentient/backend/api"
	"sentient/backend/testkit"
)

// frames is a client that sends some frames and then leaves. Events and answers reach it side by side.
type frames struct {
	send [][]byte

	mu  sync.Mutex
	got [][]byte
}

var errLeft = errors.New("the client has left")

func (f *frames) Receive(context.Context) ([]byte, error) {
	if len(f.send) == 0 {
		return nil, errLeft
	}
	frame := f.send[0]
	f.send = f.send[1:]
	return frame, nil
}

func (f *frames) Send(_ context.Context, frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.got) < 4 { // the first ones are enough to look at
		f.got = append(f.got, frame)
	}
	return nil
}

// No frame of a client ends anything but, at most, in a refusal: the connection lives until the client leaves.
func FuzzSocketFrames(f *testing.F) {
	for _, seed := range []string{`{"type":"ping"}`, `{"type":"chat.send","text":"Hi"}`, `{"type":"chat.send","text":"Hi","attachments":["../x"]}`,
		`{"type":"chat.cancel","session_id":"x"}`, `{"type":"presence","active":1}`, `[]`, `null`, `{`, "\xff\xfe", `{"type":7}`, `{"type":"chat.send","text":null,"model":"a/b"}`} {
		f.Add([]byte(seed))
	}
	k := testkit.Start(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		c := &frames{send: [][]byte{frame, []byte(`{"type":"ping"}`), []byte(`{"type":"chat.cancel","session_id":"nobody"}`)}}
		if err := k.Live(t.Context(), api.LiveInput{}, c); !errors.Is(err, errLeft) {
			t.Fatalf("the connection ended with %v", err)
		}
		for _, got := range c.got {
			if !json.Valid(got) {
				t.Fatalf("an answer is not JSON: %s", got)
			}
		}
	})
}

// No input of an operation makes it panic or answer with a fault of ours: what is wrong is refused.
func FuzzOperationInputs(f *testing.F) {
	k := testkit.Start(f)
	var ids []string
	for _, o := range k.Operations() {
		// Calls that reach out of the engine, or fill the folder, are left out: they are tested on their own.
		if o.Kind == api.Unary && o.ID != "models.test" && o.ID != "models.test_embedding" && o.ID != "models.catalog" && o.ID != "models.local" && o.ID != "secrets.set" && o.ID != "secrets.delete" && o.ID != "secrets.list" && o.ID != "models.providers" && o.ID != "models.ready" {
			ids = append(ids, o.ID)
		}
	}
	for i := range ids {
		f.Add(i, []byte(`{"id":"x","limit":1,"title":null,"q":"a","name":"b","message":"m","config":{"ui":{"theme":"dark"}}}`))
	}
	f.Add(0, []byte(`{`))
	f.Fuzz(func(t *testing.T, n int, input []byte) {
		if n < 0 {
			n = -(n + 1)
		}
		id := ids[n%len(ids)]
		if _, err := k.Call(t.Context(), id, input); err != nil && api.IsFault(err) {
			t.Fatalf("%s(%q): %v", id, input, err)
		}
	})
}
