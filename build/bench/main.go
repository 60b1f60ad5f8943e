// Command bench prints the figures of speed and size as a table, with the machine's name. It judges nothing and never
// fails on a time; a measure that cannot be taken says why in its row. The programs are taken from build/bin.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sentient/backend/sysinfo"
)

// row is one line of the table.
type row struct {
	id, what, figure, aim string
}

// measure takes one figure or a few.
type measure struct {
	id  string
	run func(ctx context.Context, b *bench) ([]row, error)
}

// bench is what the measures share.
type bench struct {
	bin      string // folder of the programs
	dir      string // a scratch folder
	messages int    // rows of the large database
	large    string // data folder with the large database, once it is made
}

var measures = []measure{
	{"P11", answers},
	{"P1", starts},
	{"P2", resident},
	{"P3", overhead},
	{"P4", throughput},
	{"P6", lists},
	{"P10", prompts},
	{"P12", otherApps},
	{"turn", longTurn},
	{"P9", sizes},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir := os.Getenv("SENTIENT_BENCH_DIR") // kept between runs: making the large database takes minutes
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "sentient-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	bin, err := filepath.Abs("build/bin")
	if err != nil {
		return err
	}
	b := &bench{bin: bin, dir: dir, messages: 1_000_000}
	var rows []row
	for _, m := range measures {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], m.id) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", m.id)
		found, err := m.run(ctx, b)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			found = append(found, row{m.id, "could not be measured: " + err.Error(), "–", ""})
		}
		rows = append(rows, found...)
	}
	fmt.Printf("%s\n%s\n\n", sysinfo.Describe(), time.Now().UTC().Format(time.RFC3339))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\twhat\tfigure\taim")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.id, r.what, r.figure, r.aim)
	}
	return w.Flush()
}

// spread writes a minimum, median and maximum.
func spread(times []time.Duration) string {
	slices.Sort(times)
	return fmt.Sprintf("%s (%s … %s)", short(times[len(times)/2]), short(times[0]), short(times[len(times)-1]))
}

func percentile(times []time.Duration, p float64) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, int(float64(len(times))*p))]
}

func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d.Nanoseconds())/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func megabytes(n int64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f MB", float64(n)/1e6), "") }
