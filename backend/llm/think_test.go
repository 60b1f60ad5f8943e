package llm

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// filtered gives what a filter makes of pieces, put together the way a Draft does it.
func filtered(pieces ...string) (text, thinking string) {
	var f ThinkFilter
	take := func(deltas []Delta) {
		for _, d := range deltas {
			if d.Thought {
				thinking, text = thinking+text, ""
			}
			text += d.Text
			thinking += d.Thinking
		}
	}
	for _, p := range pieces {
		take(f.Write(p))
	}
	take(f.End())
	return text, thinking
}

func TestThinkFilter(t *testing.T) {
	held := "I say <think>" + strings.Repeat("a", maxHeld+1)
	for _, c := range []struct{ name, in, text, thinking string }{
		{"nothing", "", "", ""},
		{"no tags", "a < b and [x] `c`", "a < b and [x] `c`", ""},
		{"whole", "<think>a</think>4", "4", "a"},
		{"blanks dropped", " \n<think>\n a\n</think>\n\n4", "4", "a\n"},
		{"other tags", "<thinking>a</thinking>4", "4", "a"},
		{"square", "[THINK]a[/THINK]4", "4", "a"},
		{"capitals", "<Think>a</THINK>4", "4", "a"},
		{"empty thought", "<think>\n\n</think>\n\nHi", "Hi", ""},
		{"no opening", "x</think>y", "y", "x"},
		{"no opening, lines", "First.\nSecond.\n</think>\n\ny", "y", "First.\nSecond.\n"},
		{"second stray closing is text", "x</think>y</think>z", "y</think>z", "x"},
		{"unclosed at the start", "<think>abc", "", "abc"},
		{"unclosed in a line", "The <think> tag", "The <think> tag", ""},
		{"closed in a line", "Well <think>hm</think>4", "Well 4", "hm"},
		{"two thoughts", "<think>a</think>1\n<think>b</think>2", "1\n2", "ab"},
		{"fence", "```\n<think>x</think>\n```\nok", "```\n<think>x</think>\n```\nok", ""},
		{"fence with language", "~~~html\n<think>\n~~~\n<think>a</think>4", "~~~html\n<think>\n~~~\n4", "a"},
		{"longer fence", "````\n```\n<think>\n````", "````\n```\n<think>\n````", ""},
		{"inline code", "Write `<think>` first.", "Write `<think>` first.", ""},
		{"inline code at the start", "`<think>` opens, `</think>` closes", "`<think>` opens, `</think>` closes", ""},
		{"double backticks", "``a ` <think>`` b", "``a ` <think>`` b", ""},
		{"lone backtick ends with the paragraph", "a ` b\n\n<think>x</think>4", "a ` b\n\n4", "x"},
		{"half a tag at the end", "4 <thi", "4 <thi", ""},
		{"half a closing tag at the end", "<think>a</thi", "", "a</thi"},
		{"too long to hold", held, held, ""},
		{"tag like", "<thinker>a</thinker>", "<thinker>a</thinker>", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ways := [][]string{{c.in}, strings.Split(c.in, "")}
			for i := 1; i < min(len(c.in), 200); i++ {
				ways = append(ways, []string{c.in[:i], c.in[i:]})
			}
			for _, pieces := range ways {
				text, thinking := filtered(pieces...)
				if text != c.text || thinking != c.thinking {
					t.Fatalf("pieces %.200q\ngot  %.200q / %.200q\nwant %.200q / %.200q", pieces, text, thinking, c.text, c.thinking)
				}
			}
		})
	}
}

// FuzzThinkFilter holds that no cut changes the result, and that nothing but tags and white space is lost.
func FuzzThinkFilter(f *testing.F) {
	for _, s := range []string{"<think>a</think>4", "x</think>y", "```\n<think>\n```", "`<think>`", "a <think> b", "[THINK]a[/THINK]", "<thinking>ü</thinking>🙂", "<think><think>a</think>b</think>c"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		if len(s) > 2000 {
			t.Skip("long inputs only repeat short ones")
		}
		text, thinking := filtered(s)
		if at = at % (len(s) + 1); at < 0 {
			at = -at
		}
		for _, pieces := range [][]string{strings.Split(s, ""), {s[:at], s[at:]}} {
			if te, th := filtered(pieces...); te != text || th != thinking {
				t.Fatalf("%q cut as %q: %q / %q, whole %q / %q", s, pieces, te, th, text, thinking)
			}
		}
		bare := func(s string) string {
			s = strings.ToLower(s)
			for _, tag := range thinkTags {
				s = strings.ReplaceAll(strings.ReplaceAll(s, strings.ToLower(tag.open), ""), strings.ToLower(tag.close), "")
			}
			return strings.Join(strings.Fields(s), "")
		}
		if utf8.ValidString(s) && !strings.ContainsAny(s, "İKſ") && sorted(bare(text+thinking)) != sorted(bare(s)) {
			// Tags that only arise once others are taken out may be counted differently; those inputs prove nothing.
			if !strings.Contains(strings.ToLower(bare(s)), "think") && !strings.Contains(strings.ToLower(bare(s)), "thought") {
				t.Fatalf("%q became %q / %q", s, text, thinking)
			}
		}
	})
}

func sorted(s string) string {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	var b strings.Builder
	for c, n := range counts {
		for range n {
			b.WriteByte(byte(c))
		}
	}
	return b.String()
}
