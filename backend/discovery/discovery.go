// Package discovery is how the programs of one data folder find each other: where the folder is, the token that proves
// that a program may enter, and the file in which a running engine leaves its address. It is small, so that a small
// program (the tray) can use it; the gateway writes what clients read.
package discovery

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/wholefile"
)

const (
	tokenFile = "gateway.token"
	fileName  = "engine-discovery.json"
)

// Engine is what a running engine leaves in its data folder.
type Engine struct {
	URL     string `json:"url"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// Home gives the data folder: SENTIENT_HOME where it is set, else ~/.sentient. It makes nothing.
func Home(getenv func(string) string) (string, error) {
	if home := getenv("SENTIENT_HOME"); home != "" {
		path, err := filepath.Abs(home)
		if err != nil {
			return "", errs.New(errs.Unavailable, "folder_unusable", "The folder named by SENTIENT_HOME can't be used. Name another one.").Because(err)
		}
		return path, nil
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if user := getenv(name); user != "" {
			return filepath.Join(user, ".sentient"), nil
		}
	}
	return "", errs.New(errs.Unavailable, "folder_unusable", "Sentient does not know where your home folder is. Set SENTIENT_HOME to the folder it should use.")
}

// Read reads what an engine left. It proves nothing: it may be left over from a crash, so whoever reads it then asks
// the engine itself.
func Read(home string) (Engine, error) {
	var e Engine
	raw, err := os.ReadFile(filepath.Join(home, fileName))
	if err != nil {
		return e, fmt.Errorf("read discovery file: %w", err)
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("decode discovery file: %w", err)
	}
	return e, nil
}

// Write leaves the address of a running engine.
func Write(home string, e Engine) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode discovery file: %w", err)
	}
	return wholefile.Write(filepath.Join(home, fileName), raw)
}

// Remove takes the address away when the engine ends.
func Remove(home string) { _ = os.Remove(filepath.Join(home, fileName)) }

// ReadToken reads the folder's token without making one.
func ReadToken(home string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(home, tokenFile))
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	obs.Hide(token)
	return token, nil
}

// Token reads the folder's token, or makes one that only its owner can read.
func Token(home string) (string, error) {
	token, err := ReadToken(home)
	if err == nil && len(token) >= 32 {
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", errs.New(errs.Unavailable, "token_unreadable", "Sentient can't read its token in the data folder. Check the folder's permissions.").Because(err)
	}
	token, err = Random()
	if err != nil {
		return "", err
	}
	if err := wholefile.Write(filepath.Join(home, tokenFile), []byte(token+"\n")); err != nil {
		return "", errs.New(errs.Unavailable, "folder_readonly", "Sentient can't write to its data folder. Check the folder's permissions and the space on the disk.").Because(err)
	}
	obs.Hide(token)
	return token, nil
}

// Random is 256 random bits as text that fits into an address.
func Random() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}
