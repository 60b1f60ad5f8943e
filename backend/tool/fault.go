package tool

import (
	"errors"
	"fmt"
	"time"

	"sentient/backend/errs"
	"sentient/backend/svc"
)

// Sentences for a call that did not come back by itself.
var (
	ErrBroke   = errs.New(errs.Internal, "tool_broke", "This tool ran into a fault of its own and did not finish. Try another way.")
	ErrClosing = errs.New(errs.Unavailable, "closing", "Sentient is closing and takes no more messages.")
)

// Fault gives the error of a guarded call (svc.Guarded) as a sentence: one that took longer than within, one that panicked,
// one that was never begun. Any other error stays as it is.
func Fault(err error, within time.Duration) error {
	switch {
	case errors.Is(err, svc.ErrTooLong):
		return errs.Newf(errs.Timeout, "tool_timeout", "This took longer than %s and was given up.", howLong(within))
	case errors.Is(err, svc.ErrPanicked):
		return ErrBroke
	case errors.Is(err, svc.ErrClosed):
		return ErrClosing
	}
	return err
}

func howLong(d time.Duration) string {
	if d >= 2*time.Minute {
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
	return fmt.Sprintf("%d seconds", int(d.Seconds()))
}
