package wire

import (
	"bytes"
	"errors"
)

// ErrLineTooLong means that a line or event did not end within the cap.
var ErrLineTooLong = errors.New("read stream: line over the cap")

// MaxLine is the cap of a line and of an event's data, in bytes.
const MaxLine = 8 << 20

// Lines cuts a stream of bytes into lines that end with LF, CRLF or CR, however the bytes are cut into pieces. A byte
// order mark at the very beginning is dropped.
type Lines struct {
	Max int // cap of a line in bytes; 0 is MaxLine

	line    []byte
	begun   bool
	afterCR bool
}

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// Write takes the next bytes and calls each for every line that ended, without its end. The line is only valid during the call.
func (l *Lines) Write(p []byte, each func(line []byte) error) error {
	for len(p) > 0 {
		if l.afterCR {
			l.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			return l.add(p)
		}
		if err := l.add(p[:i]); err != nil {
			return err
		}
		l.afterCR = p[i] == '\r'
		p = p[i+1:]
		if err := l.give(each); err != nil {
			return err
		}
	}
	return nil
}

// End gives the last line when the stream ended without a line end.
func (l *Lines) End(each func(line []byte) error) error {
	if len(l.line) == 0 {
		return nil
	}
	return l.give(each)
}

func (l *Lines) add(p []byte) error {
	limit := l.Max
	if limit == 0 {
		limit = MaxLine
	}
	if len(l.line)+len(p) > limit {
		return ErrLineTooLong
	}
	l.line = append(l.line, p...)
	return nil
}

func (l *Lines) give(each func(line []byte) error) error {
	line := l.line
	if !l.begun {
		l.begun = true
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	err := each(line)
	l.line = l.line[:0]
	return err
}

// Event is one server-sent event that carries data.
type Event struct {
	Name string // "" when the server gave none
	Data []byte // several data lines are joined with LF; only valid during the call
}

// Events reads server-sent events (WHATWG HTML, "Server-sent events") the forgiving way. Comments, bare ":" lines and
// events without data are keep-alives and are not given. A field "error" is an event of that name, as older llama.cpp servers
// write it.
type Events struct {
	Lines

	name string
	data []byte
	has  bool
}

// Write takes the next bytes and calls each for every event that is complete.
func (e *Events) Write(p []byte, each func(Event) error) error {
	return e.Lines.Write(p, func(line []byte) error { return e.field(line, each) })
}

// End gives the last event when the stream ended without the blank line.
func (e *Events) End(each func(Event) error) error {
	if err := e.Lines.End(func(line []byte) error { return e.field(line, each) }); err != nil {
		return err
	}
	return e.dispatch(each)
}

func (e *Events) field(line []byte, each func(Event) error) error {
	if len(line) == 0 {
		return e.dispatch(each)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "error":
		e.name = "error"
		return e.more(value)
	case "data":
		return e.more(value)
	}
	return nil
}

func (e *Events) more(value []byte) error {
	limit := e.Max
	if limit == 0 {
		limit = MaxLine
	}
	if len(e.data)+len(value)+1 > limit {
		return ErrLineTooLong
	}
	if e.has {
		e.data = append(e.data, '\n')
	}
	e.has = true
	e.data = append(e.data, value...)
	return nil
}

func (e *Events) dispatch(each func(Event) error) error {
	ev := Event{Name: e.name, Data: e.data}
	e.name, e.has = "", false
	var err error
	if len(bytes.TrimSpace(ev.Data)) > 0 {
		err = each(ev)
	}
	e.data = e.data[:0]
	return err
}
