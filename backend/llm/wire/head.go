package wire

import "bytes"

// Head holds the beginning of a body back until its first sign is known, so that a reader can tell a web page, a JSON
// object and a stream of events apart whatever the content type says.
type Head struct {
	bytes []byte
	first byte
}

// First takes the next bytes. Once there is a byte that is neither white space nor a byte order mark, it gives that byte and
// everything since the beginning; before that it gives 0. From then on it gives the same byte and p.
func (h *Head) First(p []byte) (first byte, data []byte) {
	if h.first != 0 {
		return h.first, p
	}
	h.bytes = append(h.bytes, p...)
	if len(h.bytes) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, h.bytes) {
		return 0, nil
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(h.bytes, byteOrderMark), " \t\r\n")
	if len(start) == 0 {
		return 0, nil
	}
	data, h.bytes, h.first = h.bytes, nil, start[0]
	return h.first, data
}
