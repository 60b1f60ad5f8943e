package netx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// errRefused is why an address was not dialled.
var errRefused = errors.New("address not allowed")

// control is asked by the dialer about each address that a name resolved to, just before it is dialled; a name that
// changes its address between a look and the dial gains nothing.
func (c *Client) control(a Addresses) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s %s", errRefused, network, address)
		}
		if !c.Allows(a, ap.Addr()) {
			return fmt.Errorf("%w: %s", errRefused, ap.Addr())
		}
		return nil
	}
}

// Allows reports whether an address would be dialled, for checks before anything is sent.
func (c *Client) Allows(a Addresses, ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	switch a {
	case Any:
		return !ip.IsMulticast()
	case Loopback:
		return ip.IsLoopback()
	}
	return c.o.Internet(ip)
}

// What is not the internet, beyond what netip knows by name (IANA's special-purpose registries).
var special = parse(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	unicast6 = netip.MustParsePrefix("2000::/3")     // all that was given out so far
	nat64    = netip.MustParsePrefix("64:ff9b::/96") // an IPv4 address in its last four bytes
)

func parse(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range texts {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// isPublic reports whether an address belongs to the internet. ip is unmapped and has no zone.
func isPublic(ip netip.Addr) bool {
	if nat64.Contains(ip) {
		b := ip.As16()
		return isPublic(netip.AddrFrom4([4]byte(b[12:])))
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	if ip.Is6() && !unicast6.Contains(ip) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// isOwn reports whether an address is one of this computer's: a server of ours that listens on all of them would be
// reached by a public one as well.
func isOwn(ip netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		if !ok {
			return false
		}
		own, ok := netip.AddrFromSlice(n.IP)
		return ok && own.Unmap() == ip
	})
}

// looksNumeric reports whether a host ends in a number and is no address: 2130706433, 0x7f.1, 0177.0.0.1. Resolvers and
// proxies may take such names for addresses, each in its own way.
func looksNumeric(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := strings.ToLower(strings.TrimSuffix(host, "."))
	last = last[strings.LastIndexByte(last, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// lookUp checks a name before a proxy is asked for it: what it resolves to here must be allowed. A name that only the
// proxy can resolve passes, and the proxy is trusted with it.
func (c *Client) lookUp(ctx context.Context, a Addresses, host string) error {
	if a == Any {
		return nil
	}
	ips, err := c.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return ctx.Err()
	}
	for _, ip := range ips {
		if !c.Allows(a, ip) {
			return fmt.Errorf("%w: %s", errRefused, ip)
		}
	}
	return nil
}
