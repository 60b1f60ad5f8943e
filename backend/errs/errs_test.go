package errs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestStatusOf(t *testing.T) {
	teapot := New(Invalid, "x", "No.")
	teapot.Status = 418
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 200},
		{io.EOF, 500},
		{New("of no kind", "x", "No."), 500},
		{New(Invalid, "x", "No."), 422}, {New(Malformed, "x", "No."), 400}, {New(Unauthorized, "x", "No."), 401},
		{New(Forbidden, "x", "No."), 403}, {New(NotFound, "x", "No."), 404}, {New(Conflict, "x", "No."), 409},
		{New(TooLarge, "x", "No."), 413}, {New(Limited, "x", "No."), 429}, {New(Unavailable, "x", "No."), 503},
		{New(Timeout, "x", "No."), 504}, {New(Cancelled, "x", "No."), 499}, {New(Internal, "x", "No."), 500},
		{teapot, 418},
		{fmt.Errorf("wrap: %w", New(NotFound, "x", "No.")), 404},
		{errors.Join(io.EOF, New(NotFound, "x", "No.")), 404},
		{context.Canceled, 499},
		{fmt.Errorf("wrap: %w", context.DeadlineExceeded), 504},
	} {
		if got := StatusOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestFrom(t *testing.T) {
	if From(nil) != nil {
		t.Error("an error of nothing")
	}
	own := New(NotFound, "chat_unknown", "There is no such chat.")
	if From(fmt.Errorf("open /home/me: %w", own)) != own {
		t.Error("ours became another")
	}
	for _, c := range []struct {
		err  error
		kind Kind
	}{
		{errors.New("open /home/me/key: no such file"), Internal},
		{fmt.Errorf("read /home/me: %w", context.Canceled), Cancelled},
		{fmt.Errorf("read /home/me: %w", context.DeadlineExceeded), Timeout},
	} {
		e := From(c.err)
		if e.Kind != c.kind || e.Code == "" || strings.Contains(e.Message, "/") || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%v: %+v", c.err, e)
		}
		if !errors.Is(e, c.err) || !strings.Contains(e.Error(), "/home/me") {
			t.Errorf("%v: the cause is not in the log", c.err)
		}
	}
}

func TestCopies(t *testing.T) {
	e := Newf(Limited, "slow", "Wait %d seconds.", 5)
	b := e.Because(io.EOF).WithFields(Field{Loc: []string{"a"}, Msg: "No.", Type: "t"})
	if e.Cause != nil || e.Fields != nil {
		t.Error("the original was changed")
	}
	if b.Message != "Wait 5 seconds." || !errors.Is(b, io.EOF) || len(b.Fields) != 1 || b.Error() != "Wait 5 seconds. (EOF)" || e.Error() != "Wait 5 seconds." {
		t.Errorf("%+v", b)
	}
}

func TestIsAndCode(t *testing.T) {
	e := fmt.Errorf("wrap: %w", New(Conflict, "busy", "Busy."))
	if !Is(e, Conflict) || Is(e, Invalid) || Is(io.EOF, Internal) || Is(nil, Internal) {
		t.Error("Is")
	}
	if Code(e) != "busy" || Code(io.EOF) != "" || Code(nil) != "" {
		t.Error("Code")
	}
}
