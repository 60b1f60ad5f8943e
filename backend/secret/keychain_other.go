//go:build darwin || windows

package secret

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/99designs/keyring"

	"sentient/backend/svc"
)

// The keychain of macOS and the credential store of Windows. Their calls take no context and may wait for a person, so
// each runs beside its caller, who leaves when time is up; the call itself ends when the system answers.
type systemKeychain struct {
	ring keyring.Keyring
	tree *svc.Tree
}

// platform gives the opener of this system.
func platform(func(string) string) opener {
	tree := sync.OnceValue(func() *svc.Tree { return svc.NewTree("keychain", slog.New(slog.DiscardHandler)) })
	return func(ctx context.Context, service string) (vault, error) {
		k := &systemKeychain{tree: tree()}
		err := k.bounded(ctx, func() (err error) {
			k.ring, err = keyring.Open(keyring.Config{
				ServiceName:                    service,
				AllowedBackends:                []keyring.BackendType{keyring.KeychainBackend, keyring.WinCredBackend},
				KeychainTrustApplication:       true,
				KeychainAccessibleWhenUnlocked: true,
				WinCredPrefix:                  "sentient",
			})
			return err
		})
		if errors.Is(err, keyring.ErrNoAvailImpl) {
			return nil, errMissing
		}
		if err != nil {
			return nil, fmt.Errorf("open the keychain: %w", err)
		}
		return k, nil
	}
}

// bounded waits for f no longer than ctx. f must not write what its caller still reads after that: results go through
// the channel's happens-before, so callers use them only when bounded gives nil.
func (k *systemKeychain) bounded(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	if !k.tree.Go("keychain call", func(context.Context) { done <- f() }) {
		return errMissing
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *systemKeychain) get(ctx context.Context, name string) (string, bool, error) {
	var item keyring.Item
	err := k.bounded(ctx, func() (err error) {
		item, err = k.ring.Get(name)
		return err
	})
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read the keychain: %w", err)
	}
	return string(item.Data), true, nil
}

func (k *systemKeychain) put(ctx context.Context, name, value string) error {
	return k.bounded(ctx, func() error {
		return k.ring.Set(keyring.Item{Key: name, Data: []byte(value), Label: "Sentient: " + name})
	})
}

func (k *systemKeychain) remove(ctx context.Context, name string) error {
	err := k.bounded(ctx, func() error { return k.ring.Remove(name) })
	if errors.Is(err, keyring.ErrKeyNotFound) {
		return nil
	}
	return err
}

func (k *systemKeychain) have(ctx context.Context, names []string) (map[string]bool, error) {
	var keys []string
	err := k.bounded(ctx, func() (err error) {
		keys, err = k.ring.Keys()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the keychain: %w", err)
	}
	out := map[string]bool{}
	for _, n := range names {
		out[n] = slices.Contains(keys, n)
	}
	return out, nil
}

func (k *systemKeychain) close() {}
