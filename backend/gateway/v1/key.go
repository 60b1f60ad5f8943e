package v1

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"

	"sentient/backend/clock"
	"sentient/backend/errs"
	"sentient/backend/obs"
	"sentient/backend/secret"
)

const (
	keyEntry  = "openai_api_key" // of the secret store (§2)
	keyPrefix = "sk-sentient-"
	keyFresh  = time.Minute // how long a key that was read is believed
)

// Secrets is the part of the secret store that a KeyEntry needs.
type Secrets interface {
	Get(ctx context.Context, name string) (value string, source secret.Source, err error)
	Set(ctx context.Context, name, value string) error
}

// KeyEntry is the key of other apps in the secret store. It asks the keychain, which takes its time, at most once a
// minute, and believes what it read last while the keychain is locked. There is one for an engine: what another one
// puts is seen up to a minute later.
type KeyEntry struct {
	Store Secrets
	Clock clock.Clock

	mu    sync.Mutex // held while the store is asked: who comes meanwhile wants the same answer
	key   string
	known bool
	asked time.Time
}

// Get gives the key, "" when none was made.
func (k *KeyEntry) Get(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known && k.Clock.Now().Sub(k.asked) < keyFresh {
		return k.key, nil
	}
	key, _, err := k.Store.Get(ctx, keyEntry)
	if err == nil {
		k.learn(key)
	} else if !k.known || ctx.Err() != nil {
		return "", err
	} else {
		k.asked = k.Clock.Now()
	}
	return k.key, nil
}

// Put replaces the key.
func (k *KeyEntry) Put(ctx context.Context, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.Store.Set(ctx, keyEntry, key); err != nil {
		k.known = false // the store may or may not have it
		return err
	}
	k.learn(key)
	return nil
}

func (k *KeyEntry) learn(key string) { k.key, k.known, k.asked = key, true, k.Clock.Now() }

// KeyService makes the key of other apps.
type KeyService struct {
	Key     Key
	BaseURL func() string // of the gateway, without a slash at its end
}

// MakeKeyInput is empty: a new key takes no choice.
type MakeKeyInput struct{}

// MadeKey is the new key, which is shown in this answer and nowhere else, and the address that goes with it.
type MadeKey struct {
	Key     string `json:"key" doc:"Shown only here."`
	BaseURL string `json:"base_url"`
}

// Make makes a new key, which replaces the old one (POST /api/openai-api/key, §2). 503 when it can't be saved; the old
// one then still counts.
func (s *KeyService) Make(ctx context.Context, _ *MakeKeyInput) (*MadeKey, error) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	key := keyPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	obs.Hide(key)
	if err := s.Key.Put(ctx, key); err != nil {
		if errs.Is(err, errs.Unavailable) {
			return nil, err // it has a sentence of its own
		}
		return nil, errs.New(errs.Unavailable, "secret_not_saved", "The new key could not be saved in this computer's keychain. Unlock the keychain and try again.").Because(err)
	}
	return &MadeKey{Key: key, BaseURL: s.BaseURL() + "/v1"}, nil
}
