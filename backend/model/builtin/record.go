package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"sentient/backend/wholefile"
)

// record is models/server.json in the data folder: the server that runs now. It outlives only an engine that was ended by
// force, and lets the next one end a server that outlived that engine too.
type record struct {
	PID  int      `json:"pid"`
	Args []string `json:"args"` // as started, without the program's own name
}

const recordName = "server.json"

func (s *Service) recordPath() string { return filepath.Join(s.folder(), recordName) }

func (s *Service) writeRecord(sv *server) {
	data, err := json.Marshal(record{PID: sv.cmd.Process.Pid, Args: sv.cmd.Args[1:]})
	if err == nil {
		err = os.MkdirAll(s.folder(), 0o700)
	}
	if err == nil {
		err = wholefile.Write(s.recordPath(), data)
	}
	if err != nil {
		// The kernel's tie still holds; the record is the second net.
		s.o.Log.Warn("built-in model's record not written", "error", err)
	}
}

func (s *Service) eraseRecord() {
	if err := os.Remove(s.recordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Log.Warn("built-in model's record not erased", "error", err)
	}
}

// leftoverGrace is how long a killed leftover may take to be gone; one that holds gigabytes needs a moment.
const leftoverGrace = 10 * time.Second

// endLeftover ends the server that an engine before us left behind, when it is beyond doubt that one: the same process
// number and exactly the arguments we gave it, among them our model file and a random port. Anything else is left alone.
func (s *Service) endLeftover(ctx context.Context) {
	data, err := os.ReadFile(s.recordPath())
	if err != nil {
		return
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.PID <= 1 || len(r.Args) == 0 || !s.isOurs(ctx, r) {
		s.eraseRecord()
		return
	}
	s.o.Log.Warn("ending a built-in model that an earlier run left behind", "pid", r.PID)
	if err := killLeftover(r.PID); err != nil {
		s.o.Log.Warn("built-in model of an earlier run not ended", "error", err)
	}
	deadline := s.o.Clock.Now().Add(leftoverGrace)
	for s.isOurs(ctx, r) && s.o.Clock.Now().Before(deadline) {
		timer := s.o.Clock.NewTimer(firstPoll)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
	s.eraseRecord()
}

func (s *Service) isOurs(ctx context.Context, r record) bool {
	p, err := process.NewProcessWithContext(ctx, int32(r.PID))
	if err != nil {
		return false
	}
	args, err := p.CmdlineSliceWithContext(ctx)
	return err == nil && len(args) > 1 && slices.Equal(args[1:], r.Args)
}
