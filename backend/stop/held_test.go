package stop_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"sentient/backend/stop"
	"sentient/backend/store"
)

// The database is held by the very work that the stop ends: the flag is saved once that has ended.
func TestTheFlagIsSavedOnceTheWorkLetsGo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		held, release := make(chan struct{}), make(chan struct{})
		r := open(t, dir, stop.Part{Name: "work", Halt: func(context.Context) int { close(release); return 1 }})
		r.tree.Go("work", func(ctx context.Context) {
			_ = r.db.Write(ctx, func(*store.Tx) error { close(held); <-release; return nil })
		})
		<-held
		if out := r.stop(""); out.Cancelled != 1 || !strings.Contains(r.kept(), `"stopped":true`) {
			t.Errorf("%+v, kept %q", out, r.kept())
		}
		synctest.Wait()
		r.close()
	})
}
