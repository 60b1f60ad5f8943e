package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"sentient/backend/wholefile"
)

const portFile = "gateway.port"

// digest derives a value from the token for one purpose, so that the token itself is never handed out.
func digest(token, purpose string) string {
	m := hmac.New(sha256.New, []byte(token))
	m.Write([]byte(purpose))
	return hex.EncodeToString(m.Sum(nil))
}

// remembered is the port that stood in for the configured one last time: addresses that were noted keep working.
type remembered struct {
	Configured int `json:"configured"`
	Port       int `json:"port"`
}

func rememberedPort(dir string, configured int) int {
	var r remembered
	raw, err := os.ReadFile(filepath.Join(dir, portFile))
	if err != nil || json.Unmarshal(raw, &r) != nil || r.Configured != configured || r.Port < 1 || r.Port > 65535 {
		return configured
	}
	return r.Port
}

func rememberPort(dir string, configured, port int) {
	if rememberedPort(dir, configured) == port {
		return
	}
	raw, _ := json.Marshal(remembered{configured, port})   // two numbers always encode
	_ = wholefile.Write(filepath.Join(dir, portFile), raw) // only a convenience: without it the next start tries the configured port
}
