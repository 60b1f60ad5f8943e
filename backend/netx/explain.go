package netx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"sentient/backend/errs"
)

// explain gives an error of the network its sentence. It names the host and nothing else of the address.
func explain(ctx context.Context, u *url.URL, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*errs.Error](err); ok {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	host := hostOf(u)
	for _, m := range meanings {
		if m.is(err) {
			return errs.Newf(m.kind, m.code, m.sentence, host).Because(err)
		}
	}
	return errs.Newf(errs.Unavailable, "connection_lost", "The connection to %s was lost. Check your internet connection and try again.", host).Because(err)
}

// meanings are looked at in order.
var meanings = []struct {
	is       func(error) bool
	kind     errs.Kind
	code     string
	sentence string // with the host
}{
	{func(e error) bool { return errors.Is(e, errRefused) }, errs.Forbidden, "address_refused", "Sentient does not open %s here: its address is on this computer or in a private network."},
	{isUnknownHost, errs.Unavailable, "host_unknown", "%s could not be found. Check the address and your internet connection."},
	{isTimeout, errs.Timeout, "host_timeout", "%s did not answer in time. Try again later."},
	{isTLS, errs.Unavailable, "tls_failed", "A secure connection to %s could not be made: it did not prove who it is."},
	{isOp("proxyconnect"), errs.Unavailable, "proxy_failed", "The proxy of this computer did not connect Sentient to %s. Check the proxy settings."},
	{isOp("dial"), errs.Unavailable, "host_unreachable", "%s cannot be reached. Check that it is running and that you are connected."},
	{func(e error) bool { return errors.Is(e, io.ErrUnexpectedEOF) }, errs.Unavailable, "connection_lost", "%s ended the connection before its answer was complete. Try again."},
}

func isUnknownHost(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && !d.IsTimeout
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func isTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid) ||
		errors.As(err, &record) || errors.As(err, &alert) || errors.Is(err, http.ErrSchemeMismatch)
}

func isOp(op string) func(error) bool {
	return func(err error) bool {
		var o *net.OpError
		return errors.As(err, &o) && o.Op == op
	}
}
