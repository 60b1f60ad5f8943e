package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sentient/backend/event"
	"sentient/backend/gateway/v1"
)

// OpenAPI describes the table, the events and the messages of clients as an OpenAPI 3.1 document.
func (t *Table) OpenAPI() *huma.OpenAPI {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Sentient", Version: "1", Description: "The operations that the engine of Sentient serves on this computer. " +
			"Every request carries `Authorization: Bearer <token>` unless it says otherwise; errors are `{detail, code, request_id}`."},
		Paths: map[string]*huma.PathItem{},
		Components: &huma.Components{Schemas: t.shapes.registry, SecuritySchemes: map[string]*huma.SecurityScheme{
			"token": {Type: "http", Scheme: "bearer"},
		}},
	}
	t.shapes.schema(reflect.TypeFor[ErrorBody]())
	for _, o := range t.ops {
		in := t.shapes.schema(o.In)
		if o.Out != nil {
			t.shapes.schema(o.Out)
		}
		if o.Path != "" {
			doc.AddOperation(t.describe(o, in))
		}
	}
	registry := t.shapes.registry.Map()
	registry["LiveEvent"] = &huma.Schema{OneOf: t.eventSchemas(), Description: "What comes down a live connection"}
	registry["ClientMessage"] = &huma.Schema{OneOf: t.messageSchemas(), Description: "What a client may send over a live connection"}
	return doc
}

// ErrorBody is the shape of every error, for the document.
type ErrorBody struct {
	Detail    any    `json:"detail" doc:"A sentence for people; for settings a list of {loc, msg, type}"`
	Code      string `json:"code" doc:"Stable and machine-readable"`
	RequestID string `json:"request_id"`
}

func (t *Table) describe(o Op, in *huma.Schema) *huma.Operation {
	op := &huma.Operation{
		OperationID: o.ID, Method: o.Verb, Path: strings.ReplaceAll(o.Path, "...}", "}"), Summary: o.Summary,
		Tags: []string{o.Noun()}, Responses: map[string]*huma.Response{},
	}
	if o.Kind == Live {
		op.Method = http.MethodGet
	}
	if o.Who&Open == 0 {
		op.Security = []map[string][]string{{"token": {}}}
	}
	object := t.resolve(in)
	for _, name := range o.PathMembers() {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: object.Properties[name]})
	}
	inQuery := o.QueryMembers()
	for _, name := range sortedKeys(inQuery) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: object.Properties[name]})
	}
	op.RequestBody = t.requestBody(o, object, op.Parameters)
	op.Responses[strconv.Itoa(http.StatusOK)] = t.response(o)
	op.Responses["default"] = &huma.Response{Description: "Refused", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: refPrefix + "ErrorBody"}}}}
	return op
}

func (t *Table) response(o Op) *huma.Response {
	r := &huma.Response{Description: "Done"}
	switch o.Kind {
	case Stream:
		r.Content = map[string]*huma.MediaType{"application/x-ndjson": {Schema: t.shapes.schema(o.Out)}}
	case Download:
		r.Content = map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}
	case Live:
		r.Description = "A WebSocket: LiveEvent down, ClientMessage up"
	default:
		r.Content = map[string]*huma.MediaType{"application/json": {Schema: t.shapes.schema(o.Out)}}
	}
	return r
}

// requestBody gives the members that stand in the body.
func (t *Table) requestBody(o Op, object *huma.Schema, elsewhere []*huma.Param) *huma.RequestBody {
	if o.Kind == Upload {
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: "object", Required: []string{"file"},
			Properties: map[string]*huma.Schema{"file": {Type: "string", Format: "binary"}, "source": object.Properties["source"]}}}}}
	}
	if o.Verb != http.MethodPost && o.Verb != http.MethodPut && o.Verb != http.MethodPatch {
		return nil
	}
	schema := object.Properties[o.WholeBody()]
	if schema == nil {
		schema = &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}}
		for name, s := range object.Properties {
			if !slices.ContainsFunc(elsewhere, func(p *huma.Param) bool { return p.Name == name }) {
				schema.Properties[name] = s
				if slices.Contains(object.Required, name) {
					schema.Required = append(schema.Required, name)
				}
			}
		}
		slices.Sort(schema.Required)
		if len(schema.Properties) == 0 {
			return nil
		}
	}
	return &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

func (t *Table) resolve(s *huma.Schema) *huma.Schema {
	if s.Ref != "" {
		return t.shapes.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// eventSchemas gives one schema an event, each with a literal type.
func (t *Table) eventSchemas() []*huma.Schema {
	schemas := []*huma.Schema{t.flatEvent("hello", reflect.TypeFor[Hello](), false), t.flatEvent("error", reflect.TypeFor[MessageError](), false),
		{Type: "object", Properties: map[string]*huma.Schema{"type": literal("gap")}, Required: []string{"type"}}}
	for _, info := range Topics() {
		payload := reflect.TypeOf(info.Zero)
		if info.Chat {
			schemas = append(schemas, t.flatEvent(info.Name, payload, true))
			continue
		}
		schemas = append(schemas, &huma.Schema{Type: "object", Required: []string{"type", "data", "ts", "seq"}, Properties: map[string]*huma.Schema{
			"type": literal(info.Name), "data": t.shapes.schema(payload), "ts": {Type: "string", Format: "date-time"}, "seq": {Type: "integer"}}})
	}
	return schemas
}

func (t *Table) flatEvent(name string, payload reflect.Type, numbered bool) *huma.Schema {
	object := t.resolve(t.shapes.schema(payload))
	s := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{"type": literal(name)}, Required: append([]string{"type"}, object.Required...)}
	for member, schema := range object.Properties {
		s.Properties[member] = schema
	}
	if numbered {
		s.Properties["seq"] = &huma.Schema{Type: "integer"}
		s.Required = append(s.Required, "seq")
	}
	return s
}

func (t *Table) messageSchemas() []*huma.Schema {
	var schemas []*huma.Schema
	for _, o := range t.ops {
		if o.Kind == Message {
			schemas = append(schemas, t.flatEvent(o.ID, o.In, false))
		}
	}
	return schemas
}

func literal(value string) *huma.Schema { return &huma.Schema{Type: "string", Enum: []any{value}} }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Contract lists what is really served, for `sentient contract`.
type Contract struct {
	Routes  []ContractRoute `json:"routes"`
	Surface []ContractName  `json:"surface"`
}

// ContractRoute is a served route; a live connection has the method WS.
type ContractRoute struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// ContractName is a served event, message or command.
type ContractName struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Contract lists routes, events and messages.
func (t *Table) Contract() Contract {
	var c Contract
	for _, o := range t.ops {
		switch {
		case o.Kind == Message:
			c.Surface = append(c.Surface, ContractName{"socket_in", o.ID})
		case o.Kind == Live:
			c.Routes = append(c.Routes, ContractRoute{"WS", o.Path})
		default:
			c.Routes = append(c.Routes, ContractRoute{o.Verb, strings.ReplaceAll(o.Path, "...}", "}")})
			if o.Kind == Download { // net/http serves HEAD with every GET; only here it is part of the contract
				c.Routes = append(c.Routes, ContractRoute{http.MethodHead, strings.ReplaceAll(o.Path, "...}", "}")})
			}
		}
	}
	for _, route := range v1.Routes() {
		method, path, _ := strings.Cut(route, " ")
		c.Routes = append(c.Routes, ContractRoute{method, path})
	}
	c.Surface = append(c.Surface, ContractName{"chat_event", "hello"})
	for _, info := range Topics() {
		c.Surface = append(c.Surface, ContractName{eventKind(info), info.Name})
	}
	return c
}

func eventKind(info *event.Info) string {
	if info.Chat {
		return "chat_event"
	}
	return "domain_event"
}

// Document is the OpenAPI document as indented JSON.
func (t *Table) Document() ([]byte, error) {
	raw, err := json.Marshal(t.OpenAPI())
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil { // sorts the members, so that a change shows as a change
		return nil, err
	}
	return json.MarshalIndent(v, "", "  ")
}

// Schema gives the schema of a Go type of the table.
func (t *Table) Schema(goType reflect.Type) *huma.Schema { return t.shapes.schema(goType) }

// Validate holds a decoded answer against the schema of its Go type, for tests of the doors.
func (t *Table) Validate(goType reflect.Type, value any, into *huma.ValidateResult) {
	schema := t.shapes.schema(goType)
	t.shapes.mu.Lock()
	defer t.shapes.mu.Unlock()
	huma.Validate(t.shapes.registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, value, into)
}
