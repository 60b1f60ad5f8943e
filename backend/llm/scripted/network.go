package scripted

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// Network is a network in memory for ServeOn, and a client that reaches it whatever the host: under testing/synctest the
// time of a bubble only passes while no goroutine waits for a real socket.
func Network() (net.Listener, *http.Client) {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return l, &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// Replay is an http.RoundTripper that answers every request with 200, this content type and exactly these pieces, one a
// Read, so that a test decides where a stream is cut. end is what follows the last piece; nil is io.EOF.
func Replay(contentType string, end error, pieces ...[]byte) http.RoundTripper {
	if end == nil {
		end = io.EOF
	}
	return replay{contentType, pieces, end}
}

type replay struct {
	contentType string
	pieces      [][]byte
	end         error
}

// RoundTrip answers.
func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {r.contentType}}, Body: &replayBody{pieces: r.pieces, end: r.end}, Request: req}, nil
}

type replayBody struct {
	pieces [][]byte
	end    error
	rest   bytes.Reader
}

func (b *replayBody) Read(p []byte) (int, error) {
	for b.rest.Len() == 0 {
		if len(b.pieces) == 0 {
			return 0, b.end
		}
		b.rest.Reset(b.pieces[0])
		b.pieces = b.pieces[1:]
	}
	return b.rest.Read(p)
}

func (b *replayBody) Close() error { return nil }

// Cuts gives the ways to cut a stream that a reader must not mind: in one piece, byte by byte, in two at every boundary
// (at most max of them, spread evenly), and in random pieces by seed.
func Cuts(stream []byte, most int, seed uint64) [][][]byte {
	all := [][][]byte{{stream}, nil}
	for i := range stream {
		all[1] = append(all[1], stream[i:i+1])
	}
	step := max(1, len(stream)/max(1, most))
	for i := 1; i < len(stream); i += step {
		all = append(all, [][]byte{stream[:i], stream[i:]})
	}
	for range 8 {
		var pieces [][]byte
		for rest := stream; len(rest) > 0; {
			seed = seed*6364136223846793005 + 1442695040888963407
			n := min(len(rest), 1+int(seed>>33)%40)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		all = append(all, pieces)
	}
	return all
}
