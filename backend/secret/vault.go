package secret

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// vault is an open keychain. Every call ends with its context.
type vault interface {
	get(ctx context.Context, name string) (value string, found bool, err error)
	put(ctx context.Context, name, value string) error
	remove(ctx context.Context, name string) error // what is not there is no error
	have(ctx context.Context, names []string) (map[string]bool, error)
	close()
}

// opener opens the computer's keychain for a service.
type opener func(ctx context.Context, service string) (vault, error)

// Why a keychain cannot be used.
var (
	errMissing = errors.New("no keychain on this computer")
	errLocked  = errors.New("the keychain is locked")
)

const (
	pieceBytes = 1000 // what the smallest keychain takes in one entry, with room (§3)
	maxValue   = 64 << 10
	maxPieces  = maxValue/(pieceBytes-utf8.UTFMax) + 2
)

func pieceName(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + ":" + strconv.Itoa(i)
}

// split cuts a value into pieces of at most pieceBytes, between characters where it is text.
func split(value string) []string {
	var out []string
	for len(value) > pieceBytes {
		n := pieceBytes
		for n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(value[n]) {
			n--
		}
		out, value = append(out, value[:n]), value[n:]
	}
	return append(out, value)
}

// getWhole joins the pieces of a value.
func getWhole(ctx context.Context, v vault, name string) (string, bool, error) {
	whole, found, err := v.get(ctx, name)
	if err != nil || !found {
		return "", false, err
	}
	for i := 1; i < maxPieces; i++ {
		more, found, err := v.get(ctx, pieceName(name, i))
		if err != nil {
			return "", false, err
		}
		if !found {
			break
		}
		whole += more
	}
	return whole, true, nil
}

// putWhole writes a value so that a cut-off write leaves the old one, the new one or none.
func putWhole(ctx context.Context, v vault, name, value string) error {
	pieces := split(value)
	_, wasSplit, err := v.get(ctx, pieceName(name, 1))
	if err != nil {
		return err
	}
	if len(pieces) > 1 || wasSplit {
		if err := v.remove(ctx, name); err != nil {
			return err
		}
		for i := 1; i < len(pieces); i++ {
			if err := v.put(ctx, pieceName(name, i), pieces[i]); err != nil {
				return err
			}
		}
		if err := removeFrom(ctx, v, name, len(pieces)); err != nil {
			return err
		}
	}
	return v.put(ctx, name, pieces[0])
}

// removeWhole removes a value and all its pieces, the first one first: what is left is not set.
func removeWhole(ctx context.Context, v vault, name string) error {
	if err := v.remove(ctx, name); err != nil {
		return err
	}
	return removeFrom(ctx, v, name, 1)
}

func removeFrom(ctx context.Context, v vault, name string, first int) error {
	for i := max(first, 1); i < maxPieces; i++ {
		_, found, err := v.get(ctx, pieceName(name, i))
		if err != nil {
			return err
		}
		if !found {
			return nil
		}
		if err := v.remove(ctx, pieceName(name, i)); err != nil {
			return fmt.Errorf("remove a piece: %w", err)
		}
	}
	return nil
}
