package secret

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"sentient/backend/wholefile"
)

// magic begins the encrypted file and is part of what is authenticated.
const magic = "SENTIENT-SECRETS 1\n"

const (
	maxSealed = 32 << 20
	lockPoll  = 20 * time.Millisecond
)

// errUnreadable: there is a file, and its key is missing or another one, or it is damaged.
var errUnreadable = errors.New("the encrypted file cannot be opened")

// entry is one value in the file. Gone says that the value was deleted while a keychain that may still hold it could
// not be reached.
type entry struct {
	Value string `json:"value,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
}

// sealed is the encrypted file. It reads the disk on every call: other processes write it too.
type sealed struct {
	path    string // of the file
	keyPath string // of its key; "" when there is no place for one
	service string
}

func (f *sealed) exists() bool {
	_, err := os.Stat(f.path)
	return err == nil
}

// read gives all entries; none when there is no file.
func (f *sealed) read() (map[string]entry, error) {
	raw, err := readSmall(f.path, maxSealed)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]entry{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the encrypted file: %w", err)
	}
	key, err := f.key()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return f.open(raw, key)
}

func (f *sealed) open(raw, key []byte) (map[string]entry, error) {
	box, err := newBox(key)
	if err != nil {
		return nil, err
	}
	body, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok || len(body) < box.NonceSize() {
		return nil, fmt.Errorf("%w: not of this format", errUnreadable)
	}
	plain, err := box.Open(nil, body[:box.NonceSize()], body[box.NonceSize():], []byte(magic+f.service))
	if err != nil {
		return nil, fmt.Errorf("%w: wrong key or damaged", errUnreadable)
	}
	entries := map[string]entry{}
	if err := json.Unmarshal(plain, &entries); err != nil {
		return nil, fmt.Errorf("%w: no entries in it", errUnreadable)
	}
	return entries, nil
}

func newBox(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// change edits the entries and writes the file whole, alone among all processes. A file that cannot be opened is set
// aside, not overwritten: its key may turn up.
func (f *sealed) change(ctx context.Context, edit func(map[string]entry) (changed bool)) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock := flock.New(f.path + ".lock")
	if ok, err := lock.TryLockContext(ctx, lockPoll); err != nil || !ok {
		return fmt.Errorf("lock the encrypted file: %w", err)
	}
	defer lock.Unlock()
	entries, err := f.read()
	if errors.Is(err, errUnreadable) {
		if err := setAside(f.path); err != nil {
			return err
		}
		entries, err = map[string]entry{}, nil
	}
	if err != nil {
		return err
	}
	if !edit(entries) {
		return nil
	}
	if len(entries) == 0 {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the empty file: %w", err)
		}
		return nil
	}
	key, err := f.key()
	if errors.Is(err, errUnreadable) {
		if err := setAside(f.keyPath); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		key, err = f.makeKey()
	}
	if err != nil {
		return err
	}
	plain, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("encode entries: %w", err)
	}
	box, err := newBox(key)
	if err != nil {
		return err
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	out := append([]byte(magic), nonce...)
	return wholefile.Write(f.path, box.Seal(out, nonce, plain, []byte(magic+f.service)))
}

// setAside renames what cannot be read to a name that is free.
func setAside(path string) error {
	for i := 1; i < 1000; i++ {
		to := fmt.Sprintf("%s.unreadable-%d", path, i)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(path, to); err != nil {
				return fmt.Errorf("set an unreadable file aside: %w", err)
			}
			return nil
		}
	}
	return errors.New("set an unreadable file aside: too many of them")
}

// key reads the file's key. fs.ErrNotExist: there is none yet.
func (f *sealed) key() ([]byte, error) {
	if f.keyPath == "" {
		return nil, errors.New("no folder for the key")
	}
	raw, err := readSmall(f.keyPath, 1024)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(raw)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%w: the key is damaged", errUnreadable)
	}
	if fi, err := os.Stat(f.keyPath); err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(f.keyPath, 0o600); err != nil {
			return nil, fmt.Errorf("protect the key: %w", err)
		}
	}
	return key, nil
}

func (f *sealed) makeKey() ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(f.keyPath), 0o700); err != nil {
		return nil, fmt.Errorf("make the key's folder: %w", err)
	}
	key := make([]byte, 32)
	rand.Read(key)
	return key, wholefile.Write(f.keyPath, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
}

func readSmall(path string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if fi.Size() > limit {
		return nil, fmt.Errorf("%w: too large", errUnreadable)
	}
	return os.ReadFile(path)
}
