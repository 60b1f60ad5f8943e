// Package api is the operation table: every operation of the engine once, as one line, with who may call it.
//
// Both doors (the gateway and the window) call operations through a Table, which checks the input against the schema
// of its Go type and hands it to the service's method. Documentation, the bound structs of the window and the Go and
// TypeScript clients are generated from the table. A route is written nowhere else.
//
// An operation's input is one flat JSON object: members of the path, the query and the body together. Package api may
// import every package of the engine's product layer; only doors, engine, gen and tests import it.
package api

import (
	"context"
	"io"
	"reflect"
	"strings"

	"sentient/backend/session"
)

// Kind is the shape of an operation's answer.
type Kind string

// The kinds.
const (
	Unary    Kind = "unary"    // one answer
	Stream   Kind = "stream"   // values until it ends; NDJSON on the wire
	Upload   Kind = "upload"   // a file comes in (multipart member "file"), one answer
	Download Kind = "download" // a file goes out
	Live     Kind = "live"     // events out and messages in, until either side leaves
	Message  Kind = "message"  // one message of a client on a live connection
)

// Who names the callers an operation is for. They are told apart by what they show at the gateway.
type Who uint8

// The callers.
const (
	Window Who = 1 << iota // the window, the command line and everybody else who holds the folder's token
	Open                   // anybody who reaches the listener
)

// Op is one operation: a row of the table.
type Op struct {
	ID      string // noun.verb, e.g. "sessions.rename"
	Kind    Kind
	Verb    string // HTTP method; "WS" for the live connection, "" for messages
	Path    string // with {name} for members of the input
	Who     Who
	Summary string
	Safe    bool  // also answered in safe mode, when the database could not be opened
	Fields  bool  // a 422 lists what is wrong member by member (§2 Config), not as one sentence
	MaxBody int64 // bytes of a request's body; 0 means defaultBody

	In, Out reflect.Type // struct of the input; type of the answer, or of one value of a stream

	call     func(ctx context.Context, in any) (any, error)
	stream   func(ctx context.Context, in any, each func(any) error) error
	upload   func(ctx context.Context, in any, body io.Reader) (any, error)
	download func(ctx context.Context, in any) (*session.Content, error)
	message  func(ctx context.Context, c *Conn, in any) error
}

const (
	defaultBody = 1 << 20   // bytes of a JSON body
	uploadBody  = 201 << 20 // bytes of an uploaded file with its envelope; the service has the exact limit
)

// Noun and Method are the names under which the window's bound structs carry the operation: "sessions.read_all" is
// Sessions.ReadAll.
func (o Op) Noun() string { n, _, _ := strings.Cut(o.ID, "."); return camel(n) }

// Method: see Noun.
func (o Op) Method() string { _, m, _ := strings.Cut(o.ID, "."); return camel(m) }

func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// row fills what every kind of operation has in common.
func row[I any](kind Kind, id, route string, who Who, summary string) Op {
	verb, path, _ := strings.Cut(route, " ")
	return Op{ID: id, Kind: kind, Verb: verb, Path: path, Who: who, Summary: summary, In: reflect.TypeFor[I]()}
}

func unary[I, O any](id, route string, who Who, summary string, fn func(context.Context, *I) (O, error)) Op {
	o := row[I](Unary, id, route, who, summary)
	o.Out = reflect.TypeFor[O]()
	o.call = func(ctx context.Context, in any) (any, error) { return fn(ctx, in.(*I)) }
	return o
}

func stream[I, T any](id, route string, who Who, summary string, fn func(context.Context, *I, func(T) error) error) Op {
	o := row[I](Stream, id, route, who, summary)
	o.Out = reflect.TypeFor[T]()
	o.stream = func(ctx context.Context, in any, each func(any) error) error {
		return fn(ctx, in.(*I), func(v T) error { return each(v) })
	}
	return o
}

func upload[I, O any](id, route string, who Who, summary string, fn func(context.Context, *I, io.Reader) (O, error)) Op {
	o := row[I](Upload, id, route, who, summary)
	o.Out = reflect.TypeFor[O]()
	o.MaxBody = uploadBody
	o.upload = func(ctx context.Context, in any, body io.Reader) (any, error) { return fn(ctx, in.(*I), body) }
	return o
}

func download[I any](id, route string, who Who, summary string, fn func(context.Context, *I) (*session.Content, error)) Op {
	o := row[I](Download, id, route, who, summary)
	o.download = func(ctx context.Context, in any) (*session.Content, error) { return fn(ctx, in.(*I)) }
	return o
}

func message[I any](id string, summary string, fn func(context.Context, *Conn, *I) error) Op {
	o := row[I](Message, id, "", Window, summary)
	o.message = func(ctx context.Context, c *Conn, in any) error { return fn(ctx, c, in.(*I)) }
	return o
}

// alsoSafe marks an operation as answered in safe mode too.
func alsoSafe(o Op) Op { o.Safe = true; return o }

// listsFields marks an operation whose 422 lists what is wrong member by member.
func listsFields(o Op) Op { o.Fields = true; return o }
