package netx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shirou/gopsutil/v4/disk"

	"sentient/backend/errs"
	"sentient/backend/svc"
	"sentient/backend/wholefile"
)

// Request is one file to fetch.
type Request struct {
	URL      string
	To       string                  // where it shall be; its folder is made
	SHA256   string                  // hexadecimal; "" when it is not known
	Size     int64                   // bytes; 0 when it is not known
	Resume   bool                    // go on with what an earlier call left
	Progress func(done, total int64) // told after each piece; total is 0 when it is not known; must be quick

	Addresses Addresses
	MaxSize   int64       // the most that is fetched when Size is not known; 0: 64 GiB
	Header    http.Header // sent along, e.g. a token; stays with the URL's host
}

const (
	partEnd      = ".part"      // beside To: what was fetched so far
	noteEnd      = ".part.json" // and where it came from
	spare        = 256 << 20    // space that a download leaves free on the disk
	stallTimeout = 60 * time.Second
	pieceSize    = 256 << 10
	maxAttempts  = 5 // in a row without a single byte more
	maxDownload  = 64 << 30
)

// note says what a part is a part of.
type note struct {
	URL       string `json:"url"`
	Validator string `json:"validator"` // a strong ETag, or a date
	Size      int64  `json:"size"`
}

// Download fetches a file to a path, where it is whole and right or not at all. A connection that is cut is taken up
// again; when that does not help, or ctx ends, what was fetched stays as To.part for a later call with Resume. Errors are
// those of HTTP, and disk_full, download_damaged (another size or checksum; what was fetched is thrown away),
// download_refused (the server's status) and folder_unusable.
func (c *Client) Download(ctx context.Context, r Request) error {
	u, err := url.Parse(r.URL)
	if err != nil || checkURL(u) != nil {
		return checkURL(nil)
	}
	if err := os.MkdirAll(filepath.Dir(r.To), 0o700); err != nil {
		return unusableFolder(err)
	}
	d := &download{c: c, r: r, url: u, part: r.To + partEnd, noted: r.To + noteEnd}
	if !r.Resume {
		if err := d.forget(); err != nil {
			return unusableFolder(err)
		}
	}
	if err := d.fetch(ctx); err != nil {
		return err
	}
	return d.finish()
}

type download struct {
	c     *Client
	r     Request
	url   *url.URL
	part  string
	noted string

	total int64        // 0: not known
	done  atomic.Int64 // bytes in the part
}

func (d *download) forget() error {
	return errors.Join(ifThere(os.Remove(d.part)), ifThere(os.Remove(d.noted)))
}

func ifThere(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// fetch goes on until the part is complete.
func (d *download) fetch(ctx context.Context) error {
	var best int64
	for idle := 0; ; {
		err := d.attempt(ctx)
		if err == nil || ctx.Err() != nil || !isCut(err) {
			return err
		}
		if idle++; d.done.Load() > best {
			best, idle = d.done.Load(), 1
		}
		if idle >= maxAttempts {
			return err
		}
		d.c.o.Log.Info("download cut, going on", "host", d.url.Hostname(), "done", d.done.Load(), "error", err)
		if err := d.pause(ctx, time.Duration(idle)*time.Second); err != nil {
			return err
		}
	}
}

func (d *download) pause(ctx context.Context, wait time.Duration) error {
	t := d.c.o.Clock.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C():
		return nil
	}
}

// isCut reports whether an error is one that another attempt may not meet.
func isCut(err error) bool {
	switch errs.Code(err) {
	case "connection_lost", "host_timeout", "host_unreachable", "download_busy":
		return true
	}
	return false
}

// attempt asks for what is missing and adds it to the part.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	have, from := d.have()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.r.URL, nil)
	if err != nil {
		return checkURL(nil)
	}
	for k, v := range d.r.Header {
		req.Header[k] = v
	}
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", from.Validator)
	}
	resp, err := d.c.Do(Policy{Addresses: d.r.Addresses, Timeout: -1, MaxBody: -1}, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && have > 0 && startsAt(resp, have):
		d.total = from.Size
	case resp.StatusCode == http.StatusOK:
		have, d.total = 0, max(resp.ContentLength, 0)
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0 && have == from.Size:
		d.total = from.Size
		return nil
	case have > 0 && (resp.StatusCode == http.StatusRequestedRangeNotSatisfiable || resp.StatusCode == http.StatusPartialContent):
		return errors.Join(d.forget(), d.attemptAgain(ctx))
	default:
		return d.refused(resp.StatusCode)
	}
	if err := d.fits(have); err != nil {
		return err
	}
	return d.save(ctx, cancel, resp, have)
}

// attemptAgain is for a part that the server does not know any more; the part is gone, so this ends.
func (d *download) attemptAgain(ctx context.Context) error {
	d.done.Store(0)
	return d.attempt(ctx)
}

// have gives what an earlier attempt left, if the same file can be told again.
func (d *download) have() (int64, note) {
	var n note
	b, err := os.ReadFile(d.noted)
	if err != nil || json.Unmarshal(b, &n) != nil || n.URL != d.r.URL || n.Validator == "" {
		return 0, note{}
	}
	i, err := os.Stat(d.part)
	if err != nil || (n.Size > 0 && i.Size() > n.Size) {
		return 0, note{}
	}
	return i.Size(), n
}

func startsAt(resp *http.Response, have int64) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(resp.Header.Get("Content-Range"), "bytes "), "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return err == nil && n == have
}

func (d *download) refused(status int) error {
	host := hostOf(d.url)
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return errs.Newf(errs.NotFound, "download_refused", "%s does not have this file any more.", host)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errs.Newf(errs.Forbidden, "download_refused", "%s does not give this file without signing in.", host)
	case status == http.StatusTooManyRequests || status >= 500:
		return errs.Newf(errs.Unavailable, "download_busy", "%s is too busy to send this file. Try again later.", host)
	}
	return errs.Newf(errs.Unavailable, "download_refused", "%s did not send this file (status %d).", host, status)
}

// fits checks size and space before anything is written.
func (d *download) fits(have int64) error {
	if d.r.Size > 0 && d.total > 0 && d.total != d.r.Size {
		return errors.Join(d.damaged("size"), d.forget())
	}
	total := max(d.total, d.r.Size)
	if limit := d.limit(); total > limit {
		return tooLarge(d.url)
	}
	free, known := d.c.o.DiskFree(filepath.Dir(d.r.To))
	if need := total - have; total > 0 && known && uint64(need+spare) > free {
		return errs.Newf(errs.Unavailable, "disk_full", "There is not enough space on the disk for this download: it needs %d MB and %d MB are free.", (need+spare)>>20+1, free>>20)
	}
	return nil
}

func (d *download) limit() int64 {
	switch {
	case d.r.Size > 0:
		return d.r.Size
	case d.r.MaxSize > 0:
		return d.r.MaxSize
	}
	return maxDownload
}

// save adds a response's body to the part, and gives up when nothing comes for a while.
func (d *download) save(ctx context.Context, cancel func(), resp *http.Response, have int64) error {
	n := note{URL: d.r.URL, Validator: validator(resp), Size: d.total}
	b, err := json.Marshal(n)
	if err == nil {
		err = wholefile.Write(d.noted, b)
	}
	if err != nil {
		return d.notWritten(err)
	}
	flags := os.O_CREATE | os.O_WRONLY
	if have == 0 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(d.part, flags, 0o600)
	if err != nil {
		return d.notWritten(err)
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return errors.Join(d.notWritten(err), f.Close())
	}
	d.done.Store(have)
	err = d.copy(ctx, cancel, f, resp.Body)
	if serr := errors.Join(f.Sync(), f.Close()); serr != nil && err == nil {
		err = d.notWritten(serr)
	}
	return err
}

// copy runs the pump beside its watch. When the watch ends first, it cancels the request, and with it the pump.
func (d *download) copy(ctx context.Context, cancel func(), f *os.File, body io.Reader) error {
	err := svc.Run(ctx, d.watch, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, cancel)()
		if err := d.pump(ctx, f, body); err != nil {
			return err
		}
		return errComplete
	})
	switch {
	case errors.Is(err, errComplete):
		return nil
	case ctx.Err() != nil && errs.Code(err) == "":
		return ctx.Err()
	}
	return err
}

// errComplete ends the watch beside a body that was read to its end.
var errComplete = errors.New("complete")

// validator is what tells this version of the file from others.
func validator(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// watch ends when nothing came for a while.
func (d *download) watch(ctx context.Context) error {
	for {
		before := d.done.Load()
		if err := d.pause(ctx, stallTimeout); err != nil {
			return err
		}
		if d.done.Load() == before {
			return errs.Newf(errs.Timeout, "host_timeout", "%s stopped sending. Try again later.", hostOf(d.url))
		}
	}
}

func (d *download) pump(ctx context.Context, f *os.File, body io.Reader) error {
	limit := d.limit()
	for buf := make([]byte, pieceSize); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := body.Read(buf)
		if d.done.Load()+int64(n) > limit {
			return errors.Join(tooLarge(d.url), d.forget())
		}
		if _, werr := f.Write(buf[:n]); werr != nil {
			return d.notWritten(werr)
		}
		if d.done.Add(int64(n)); n > 0 && d.r.Progress != nil {
			d.r.Progress(d.done.Load(), max(d.total, d.r.Size))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// finish checks the part and gives it its name.
func (d *download) finish() error {
	size, sum, err := measure(d.part)
	if err != nil {
		return d.notWritten(err)
	}
	if want := max(d.total, d.r.Size); want > 0 && size != want {
		return errors.Join(d.damaged("size"), d.forget())
	}
	if d.r.SHA256 != "" && !strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), d.r.SHA256) {
		return errors.Join(d.damaged("checksum"), d.forget())
	}
	if err := os.Rename(d.part, d.r.To); err != nil {
		return d.notWritten(err)
	}
	if err := errors.Join(wholefile.SyncDir(filepath.Dir(d.r.To)), ifThere(os.Remove(d.noted))); err != nil {
		return d.notWritten(err)
	}
	return nil
}

func measure(path string) (int64, hash.Hash, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, h, err
}

func (d *download) damaged(what string) error {
	return errs.Newf(errs.Unavailable, "download_damaged", "What %s sent is not the file that was expected, so it was thrown away. Try again later.", hostOf(d.url)).Because(errors.New("another " + what))
}

// notWritten is for errors of the disk.
func (d *download) notWritten(err error) error {
	if free, known := d.c.o.DiskFree(filepath.Dir(d.r.To)); known && free < pieceSize {
		return errs.New(errs.Unavailable, "disk_full", "There is no space left on the disk. What was fetched so far is kept. Free some space and try again.").Because(err)
	}
	return unusableFolder(err)
}

func unusableFolder(err error) error {
	return errs.New(errs.Unavailable, "folder_unusable", "The folder for this download cannot be written. Check that it is there and that Sentient may write to it.").Because(err)
}

func diskFree(path string) (uint64, bool) {
	u, err := disk.Usage(path)
	if err != nil || u == nil {
		return 0, false
	}
	return u.Free, true
}
