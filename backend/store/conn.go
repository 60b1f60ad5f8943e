package store

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"modernc.org/sqlite"
)

// fileURI names a file for SQLite, whatever characters its path has.
func fileURI(path string, query url.Values) string {
	p := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(p, "/") {
		p = "/" + p // file:///C:/…
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: p, RawQuery: query.Encode()}
	return u.String()
}

// What each connection is set to. Caches are small because several connections idle for days; temporary tables stay in
// memory because they would be private data in a shared folder; no memory map, because a file that is cut short under
// one ends the program with a signal instead of an error.
func dsn(path, mode string, pragmas ...string) string {
	all := append([]string{"busy_timeout(5000)", "foreign_keys(1)", "temp_store(memory)", "trusted_schema(0)", "mmap_size(0)"}, pragmas...)
	begin := map[string]string{"rw": "immediate", "ro": "deferred"}[mode]
	return fileURI(path, url.Values{"_pragma": all, "_txlock": {begin}, "mode": {mode}})
}

func writerDSN(path string) string {
	return dsn(path, "rw", "journal_mode(wal)", "synchronous(normal)", "secure_delete(1)", "cache_size(-4000)", "journal_size_limit(8388608)")
}

func readerDSN(path string) string {
	return dsn(path, "ro", "query_only(1)", "cache_size(-1000)")
}

// lookDSN reads a file that lies still, without a -wal or -shm beside it.
func lookDSN(path string) string {
	return fileURI(path, url.Values{"_pragma": {"trusted_schema(0)", "mmap_size(0)", "cache_size(-1000)"}, "mode": {"ro"}, "immutable": {"1"}})
}

// pool makes a pool on a file by one of the functions above. Its errors are translated, and each is shown to saw (which
// may be nil).
func pool(dsn func(string) string, path string, conns int, saw func(error)) *sql.DB {
	db := sql.OpenDB(connector{dsn(path), filepath.Dir(path), saw})
	db.SetMaxOpenConns(conns)
	return db
}

type connector struct {
	dsn string
	dir string
	saw func(error)
}

// Driver gives SQLite's.
func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }
