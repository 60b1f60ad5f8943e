package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sentient/backend/discovery"
)

// program is a running `sentient serve`.
type program struct {
	cmd   *exec.Cmd
	home  string
	url   string
	token string
	ready time.Duration // from the start of the process to the first answer of health
}

// serve starts the engine on a data folder with a given port and waits for health.
func (b *bench) serve(ctx context.Context, home string, port int, env ...string) (*program, error) {
	p := &program{home: home, url: "http://127.0.0.1:" + strconv.Itoa(port)}
	p.cmd = exec.CommandContext(ctx, filepath.Join(b.bin, "sentient"), "serve", "--port", strconv.Itoa(port))
	p.cmd.Env = append(append(os.Environ(), "SENTIENT_HOME="+home), env...)
	var log bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &log, &log
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for time.Since(start) < 30*time.Second {
		res, err := client.Get(p.url + "/api/health")
		if err == nil {
			res.Body.Close()
			p.ready = time.Since(start)
			p.token, err = discovery.ReadToken(home)
			return p, err
		}
		time.Sleep(500 * time.Microsecond)
	}
	p.stop()
	return nil, fmt.Errorf("engine did not answer in 30 s: %s", log.String())
}

func (p *program) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended already
	_ = p.cmd.Wait()
}

// get makes a request and gives its time; the body is read whole.
func (p *program) get(path string) (time.Duration, error) {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	start := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		return 0, err
	}
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s gave %d: %.200s", path, res.StatusCode, body.String())
	}
	return time.Since(start), nil
}

// answers is P11: how long short commands take.
func answers(ctx context.Context, b *bench) ([]row, error) {
	home := filepath.Join(b.dir, "answers")
	p, err := b.serve(ctx, home, 41877)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	var rows []row
	for _, c := range []struct {
		name, aim string
	}{{"version", "< 30 ms"}, {"contract", "< 30 ms"}, {"status", "< 60 ms"}} {
		var times []time.Duration
		for range 15 {
			cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "sentient"), c.name)
			cmd.Env = append(os.Environ(), "SENTIENT_HOME="+home)
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return rows, fmt.Errorf("%s: %w: %s", c.name, err, out)
			}
			times = append(times, time.Since(start))
		}
		rows = append(rows, row{"P11", "sentient " + c.name, spread(times), c.aim})
	}
	return rows, nil
}

// starts is P1: process start to health, empty and with the large database.
func starts(ctx context.Context, b *bench) ([]row, error) {
	if err := b.seed(ctx); err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range []struct{ name, home string }{
		{"serve to health, new folder", ""},
		{fmt.Sprintf("serve to health, %d messages", b.messages), b.large},
	} {
		var times []time.Duration
		for i := range 9 {
			home := c.home
			if home == "" {
				home = filepath.Join(b.dir, "new"+strconv.Itoa(i))
			}
			p, err := b.serve(ctx, home, 41878)
			if err != nil {
				return rows, err
			}
			times = append(times, p.ready)
			p.stop()
		}
		rows = append(rows, row{"P1", c.name, spread(times), "< 100 ms"})
	}
	return rows, nil
}

// resident is P2: memory of the idle engine, with the large database after a few lists and searches.
func resident(ctx context.Context, b *bench) ([]row, error) {
	if err := b.seed(ctx); err != nil {
		return nil, err
	}
	p, err := b.serve(ctx, b.large, 41879)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	idle, err := rss(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	for range 20 {
		for _, path := range []string{"/api/sessions?limit=100", "/api/sessions/search?q=harbour", "/api/notifications?limit=50"} {
			if _, err := p.get(path); err != nil {
				return nil, err
			}
		}
	}
	used, err := rss(p.cmd.Process.Pid)
	return []row{
		{"P2", "engine, idle after start", megabytes(idle), "< 60 MB"},
		{"P2", "engine, after 60 lists and searches", megabytes(used), "–"},
	}, err
}

// rss reads a process's resident memory in bytes (Linux).
func rss(pid int) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb * 1024, err
		}
	}
	return 0, fmt.Errorf("no VmRSS for process %d", pid)
}

// lists is P6: every list that exists, on the large database.
func lists(ctx context.Context, b *bench) ([]row, error) {
	if err := b.seed(ctx); err != nil {
		return nil, err
	}
	p, err := b.serve(ctx, b.large, 41880)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	var rows []row
	for _, path := range []string{
		"/api/sessions?limit=100",
		"/api/sessions/" + largeChat + "/messages?limit=500",
		"/api/sessions/search?q=harbour",
		"/api/sessions/search?q=the",
		"/api/notifications?limit=50",
	} {
		var times []time.Duration
		for range 60 {
			d, err := p.get(path)
			if err != nil {
				return rows, err
			}
			times = append(times, d)
		}
		p95 := percentile(times, 0.95)
		rows = append(rows, row{"P6", "GET " + strings.Replace(path, largeChat, "{id}", 1), fmt.Sprintf("p95 %s, median %s", short(p95), short(percentile(times, 0.5))), "p95 < 25 ms"})
	}
	return rows, nil
}

// sizes is P9: what the programs weigh, and how long the engine takes to build with an empty cache.
func sizes(ctx context.Context, b *bench) ([]row, error) {
	var rows []row
	for _, name := range []string{"sentient", "sentient-desktop", "sentient-tray"} {
		info, err := os.Stat(filepath.Join(b.bin, name))
		if err != nil {
			return rows, err
		}
		aim := "–"
		if name == "sentient" {
			aim = "< 60 MB"
		}
		rows = append(rows, row{"P9", "size of " + name, megabytes(info.Size()), aim})
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(b.dir, "built"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOCACHE="+filepath.Join(b.dir, "gocache"))
	start := time.Now()
	if out, err := build.CombinedOutput(); err != nil {
		return rows, fmt.Errorf("build from clean: %w: %s", err, out)
	}
	return append(rows, row{"P9", "build of sentient with an empty cache", short(time.Since(start)), "< 4 min"}), nil
}
