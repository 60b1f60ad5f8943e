package textkit

import (
	"bytes"
	"io"
	"mime"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"sentient/backend/errs"
)

// sniffLength is how much of a text its encoding is told by.
const sniffLength = 64 << 10

// Decode gives a text in UTF-8, whatever encoding it is in: the one of its byte order mark, else UTF-8 where it is valid,
// else that of contentType, else Windows-1252. contentType may be "". What is no text is CodeNotText.
func Decode(data []byte, contentType string) (string, error) {
	e, err := encodingOf(data, contentType, true)
	if err != nil {
		return "", err
	}
	decoded, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return "", damaged("text", err)
	}
	return clean(string(bytes.TrimPrefix(decoded, []byte("\ufeff")))), nil
}

// Reader gives a long text in UTF-8 as it is read. Its encoding is told by its beginning, like by Decode.
func Reader(r io.Reader) (io.Reader, error) {
	head := make([]byte, sniffLength)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	e, err := encodingOf(head, "", n < sniffLength)
	if err != nil {
		return nil, err
	}
	// A byte order mark is dropped by the decoder of UTF-16; that of UTF-8 is dropped here.
	return transform.NewReader(io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))), r), e.NewDecoder()), nil
}

// encodingOf tells the encoding of data, of which there may be more unless whole.
func encodingOf(data []byte, contentType string, whole bool) (encoding.Encoding, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM), nil
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM), nil
	}
	if binary(data) {
		return nil, errs.New(errs.Invalid, CodeNotText, "This is not text, so it can't be read as text.")
	}
	begin := data
	if !whole {
		begin = wholeRunes(data)
	}
	if utf8.Valid(begin) {
		return unicode.UTF8, nil
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		if e, _ := charset.Lookup(params["charset"]); e != nil {
			return e, nil
		}
	}
	if mostlyUTF8(begin) {
		return unicode.UTF8, nil
	}
	e, _, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
	if e == unicode.UTF8 || e == encoding.Replacement {
		e, _ = charset.Lookup("windows-1252")
	}
	return e, nil
}

// wholeRunes leaves out a character that is cut off at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// binary reports whether data is no text: it has bytes that no text has.
func binary(data []byte) bool {
	odd := 0
	for _, c := range data[:min(len(data), sniffLength)] {
		if c == 0 {
			return true
		}
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1b {
			odd++
		}
	}
	return odd*20 > min(len(data), sniffLength)
}

// mostlyUTF8 reports whether a text that is not valid UTF-8 is UTF-8 with a few damaged places: it has many more whole
// characters of several bytes than broken ones.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		b = b[n:]
	}
	return good > 8*bad
}
