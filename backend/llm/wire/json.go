package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sentient/backend/llm"
)

// JSON makes a short exchange and decodes its whole body into out. x needs Clock, Idle and Open only. A *StatusError comes
// back as it is; anything else is put into words.
func JSON(ctx context.Context, x Exchange, s llm.Service, out any) error {
	var body bytes.Buffer
	x.Piece = func(p []byte) (bool, bool, error) {
		body.Write(p)
		return true, true, nil
	}
	x.End = func() error {
		raw := bytes.TrimSpace(bytes.TrimPrefix(body.Bytes(), byteOrderMark))
		if len(raw) > 0 && raw[0] == '<' {
			return s.NotAModel(fmt.Errorf("read answer: markup: %.200s", raw))
		}
		if err := json.Unmarshal(raw, out); err != nil {
			return s.Broken(fmt.Errorf("decode answer: %w: %.200s", err, raw))
		}
		return nil
	}
	return Fault(ctx, s, nil, x.Run(ctx))
}
