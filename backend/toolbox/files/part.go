package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// fill takes the part of a text that begins at the offset and fits: at most limit characters (0: no limit), and no more
// than a result of room characters holds. total is how many characters the text has, -1 when that is not known.
func (out *readOut) fill(text pieces, total, limit, room int) error {
	left := room - out.around()
	var b strings.Builder
	at, taken := 0, 0 // characters before this one; in the part
	for piece, err := range text {
		if err != nil {
			return err
		}
		for _, r := range piece {
			switch {
			case at < out.Offset:
			case out.More:
			case taken > 0 && (left < cost(r) || limit > 0 && taken >= limit):
				out.More = true
			default:
				left -= cost(r)
				b.WriteRune(r)
				taken++
			}
			if out.More {
				break
			}
			at++
		}
		if out.More {
			break
		}
	}
	if !out.More && total < 0 {
		total = at
	}
	out.Content = b.String()
	if out.More {
		next := out.Offset + taken
		out.NextOffset = &next
	}
	if total >= 0 {
		out.Total = &total
	}
	out.explain(total)
	return nil
}

func (out *readOut) explain(total int) {
	switch {
	case out.Content != "":
	case total == 0 && out.Offset == 0:
		out.Note = "There is no text in this file: it is empty, or a document of pictures alone."
	default:
		out.Note = fmt.Sprintf("There is nothing at this offset: the file has %d characters.", total)
	}
}

// around is how many characters of a result are not content, at most.
func (out *readOut) around() int {
	most := 1 << 40
	full := readOut{Name: out.Name, Offset: most, Total: &most, NextOffset: &most}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(full) != nil { // never: it is text and numbers
		return 0
	}
	return utf8.RuneCount(b.Bytes())
}

// cost is how many characters a character takes in JSON.
func cost(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '\u2028' || r == '\u2029':
		return 6
	}
	return 1
}
