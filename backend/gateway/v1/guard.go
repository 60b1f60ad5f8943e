package v1

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// local tells whether both ends of a request's connection are this computer itself. Only the socket's own addresses
// count: a header can say anything, and one that is missing is no proof.
func local(r *http.Request) bool {
	here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && here != nil && loopback(here.String()) && loopback(r.RemoteAddr)
}

// loopback tells whether an address with a port is a numeric loopback one: IPv4, IPv6, or IPv4 written as IPv6.
func loopback(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// bearer gives the key that a request shows, or "".
func bearer(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// same compares keys in a time that tells nothing of them, not even their length. No key is never the same.
func same(shown, key string) bool {
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && key != ""
}
