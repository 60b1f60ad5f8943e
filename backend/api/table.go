package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"sentient/backend/errs"
	"sentient/backend/session"
)

// Table is the operations of one engine, ready to be called. Both doors hold the same one.
type Table struct {
	ops    []Op
	byID   map[string]int
	shapes *shapes
	safe   func() *errs.Error
}

// NewTable makes a table of the services. safe gives the refusal for everything but the few operations that are
// answered in safe mode, or nil while the engine works; it may be nil itself.
func NewTable(s Services, safe func() *errs.Error) *Table {
	t := &Table{ops: Operations(s), byID: map[string]int{}, shapes: newShapes(), safe: safe}
	for i, o := range t.ops {
		if _, twice := t.byID[o.ID]; twice {
			panic("operation is in the table twice: " + o.ID) // found by the first test that makes a table
		}
		t.byID[o.ID] = i
	}
	return t
}

// Operations are the rows, in the order of the table.
func (t *Table) Operations() []Op { return slices.Clone(t.ops) }

// Op finds an operation.
func (t *Table) Op(id string) (Op, bool) {
	i, ok := t.byID[id]
	if !ok {
		return Op{}, false
	}
	return t.ops[i], true
}

// Call runs a unary operation. input is the flat JSON object; empty means {}. The answer is a value of the row's Out.
func (t *Table) Call(ctx context.Context, id string, input json.RawMessage) (any, error) {
	o, in, err := t.prepare(id, Unary, input)
	if err != nil {
		return nil, err
	}
	out, err := o.call(ctx, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Stream runs a stream operation: each gets every value. An error of each ends it.
func (t *Table) Stream(ctx context.Context, id string, input json.RawMessage, each func(any) error) error {
	o, in, err := t.prepare(id, Stream, input)
	if err != nil {
		return err
	}
	return o.stream(ctx, in, each)
}

// Upload runs an upload operation with the file's bytes.
func (t *Table) Upload(ctx context.Context, id string, input json.RawMessage, body io.Reader) (any, error) {
	o, in, err := t.prepare(id, Upload, input)
	if err != nil {
		return nil, err
	}
	return o.upload(ctx, in, body)
}

// Download runs a download operation. The caller closes the content's body.
func (t *Table) Download(ctx context.Context, id string, input json.RawMessage) (*session.Content, error) {
	o, in, err := t.prepare(id, Download, input)
	if err != nil {
		return nil, err
	}
	return o.download(ctx, in)
}

// prepare finds the operation and turns the input into a pointer to its In.
func (t *Table) prepare(id string, kind Kind, input json.RawMessage) (Op, any, error) {
	o, ok := t.Op(id)
	if !ok || o.Kind != kind {
		return Op{}, nil, errs.New(errs.NotFound, "operation_unknown", "Sentient has no such operation.").
			Because(fmt.Errorf("find operation %s of kind %s", id, kind))
	}
	if !o.Safe {
		if err := t.Ready(); err != nil {
			return Op{}, nil, err
		}
	}
	in, err := t.decode(o, input)
	return o, in, err
}

func (t *Table) decode(o Op, input json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	if err := t.shapes.check(o.In, input); err != nil {
		return nil, err
	}
	in := reflect.New(o.In)
	if err := json.Unmarshal(input, in.Interface()); err != nil {
		return nil, errs.New(errs.Invalid, "invalid", "The request does not have the right shape.").Because(err)
	}
	return in.Interface(), nil
}

// Ready gives the refusal of safe mode, or nil.
func (t *Table) Ready() error {
	if t.safe != nil {
		if refusal := t.safe(); refusal != nil {
			return refusal
		}
	}
	return nil
}

// IsFault tells whether an error is a fault of the engine rather than a refusal.
func IsFault(err error) bool { return err != nil && errs.From(err).Kind == errs.Internal }
