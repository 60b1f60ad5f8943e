package textkit

import (
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func read(t testing.TB, page string, o HTMLOptions) Page {
	t.Helper()
	p, err := HTML(t.Context(), strings.NewReader(page), o)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(p.Text) || !utf8.ValidString(p.Title) || strings.ContainsAny(p.Text+p.Title, "\x00") || strings.Contains(p.Title, "\n") {
		t.Errorf("unclean: %q %.200q", p.Title, p.Text)
	}
	return p
}

var long = strings.Repeat("The museum opens at nine in the morning, and closes when the last visitor has left the garden. ", 12)

func TestHTMLArticle(t *testing.T) {
	at, _ := url.Parse("https://example.com/news/today")
	p := read(t, `<!doctype html><title>The
 Museum</title><nav><a href="/">Home</a><a href="/a">Other</a></nav><div class="ad">Buy!</div><article><h1>Opening</h1><p>`+long+`</p>
<p>Tickets are <a href="../tickets?a=1">sold here</a>, <a href="javascript:alert(1)">or there</a>, <a href="https://x.example/`+strings.Repeat("t", 200)+`">or far away</a>.</p>
<ul><li>Adults <b>12</b> €</li><li>Children free</li></ul><pre><code>go run .</code></pre>
<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Mon</td><td>9-5</td></tr></table>`+"<p>"+long+`</p></article><footer>© Example</footer>`, HTMLOptions{Base: at})
	if p.Title != "The Museum" || p.Cut {
		t.Errorf("%+v", p)
	}
	for _, want := range []string{"closes when the last visitor", "[sold here](https://example.com/tickets?a=1)", "or there,", "or far away", "- Adults **12** €\n- Children free", "go run .", "Day", "9-5"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("it lacks %q:\n%s", want, p.Text)
		}
	}
	for _, not := range []string{"Home", "© Example", "javascript", "ttttt"} {
		if strings.Contains(p.Text, not) {
			t.Errorf("it has %q:\n%s", not, p.Text)
		}
	}
}

// A page that is a list, a table or a few words is read whole: it has no article.
func TestHTMLWithoutArticle(t *testing.T) {
	if p := read(t, `<h1>Status</h1><p>All systems work.</p><footer>Updated today</footer>`, HTMLOptions{}); p.Title != "Status" || !strings.Contains(p.Text, "All systems work.") || !strings.Contains(p.Text, "Updated today") {
		t.Errorf("%+v", p)
	}
	var rows strings.Builder
	for _, name := range []string{"Apples", "Pears", "Plums", "Quinces", "Cherries", "Medlars", "Damsons", "Rowan berries", "Sloes"} {
		rows.WriteString("<tr><td>" + name + "</td><td>3.50</td><td>in stock, sent within two working days</td></tr>")
	}
	p := read(t, "<nav>Menu entry</nav><table><tr><th>Fruit</th><th>Price</th><th>State</th></tr>"+rows.String()+"</table>", HTMLOptions{})
	if !strings.Contains(p.Text, "|Rowan berries|3.50|") || strings.Contains(p.Text, "Menu entry") {
		t.Error(p.Text)
	}
}

func TestHTMLShowsNothingUnseen(t *testing.T) {
	for name, piece := range map[string]string{
		"script":            `<script>SECRET</script>`,
		"a script's end":    `<script>var x = "</p>SECRET"</script>`,
		"style":             `<style>SECRET</style>`,
		"comment":           `<!-- SECRET -->`,
		"odd comment":       `<!-- x --!><!--> <!SECRET><? SECRET ?>`,
		"template":          `<template><p>SECRET</p></template>`,
		"noscript":          `<noscript>SECRET</noscript>`,
		"hidden":            `<div hidden><p>SECRET</p></div>`,
		"for readers only":  `<span aria-hidden="true">SECRET</span>`,
		"display":           `<p style="color:red; DISPLAY : none !important">SECRET</p>`,
		"visibility":        `<p style="visibility:hidden">SECRET</p>`,
		"opacity":           `<p style="opacity:0">SECRET</p><p style="opacity: 0.0;">SECRET</p><p style="opacity:.00">SECRET</p>`,
		"size":              `<p style="font-size:0px">SECRET</p>`,
		"far away":          `<p style="position:absolute;left:-9999px">SECRET</p><p style="text-indent:-5000px">SECRET</p>`,
		"clipped":           `<p style="clip: rect(0 0 0 0)">SECRET</p><p style="height:0;overflow:hidden">SECRET</p>`,
		"scaled":            `<p style="transform: scale(0)">SECRET</p>`,
		"an input":          `<input value="SECRET"><textarea>SECRET</textarea><select><option>SECRET</option></select>`,
		"a picture":         `<img alt="SECRET" src="x"><svg><text>SECRET</text></svg>`,
		"a frame":           `<iframe srcdoc="SECRET">SECRET</iframe><object>SECRET</object>`,
		"attributes":        `<p title="SECRET" data-x="SECRET">x</p><a href="#SECRET">y</a>`,
		"in a noscript tag": `<noscript><img src="a" onerror="SECRET">SECRET</noscript>`,
	} {
		for _, page := range []string{piece + "<p>" + long + "</p>", "<article><p>" + long + "</p>" + piece + "<p>" + long + "</p></article>", "<p>short</p>" + piece} {
			if p := read(t, page, HTMLOptions{}); strings.Contains(p.Text+p.Title, "SECRET") || p.Text == "" {
				t.Errorf("%s: %q", name, p.Text)
			}
		}
	}
	for name, piece := range map[string]string{
		"half seen":    `<p style="opacity:0.5">SEEN</p>`,
		"newsletters":  `<div style="font-size:0px"><p style="font-size:14px">SEEN</p></div>`,
		"scaled":       `<p style="transform:scale(0.9)">SEEN</p>`,
		"a margin":     `<p style="margin-left:-100px">SEEN</p>`,
		"no border":    `<p style="border-width:0;overflow:hidden">SEEN</p>`,
		"what unfolds": `<details><summary>More</summary>SEEN</details>`,
	} {
		if p := read(t, "<p>short</p>"+piece, HTMLOptions{}); !strings.Contains(p.Text, "SEEN") {
			t.Errorf("%s is left out: %q", name, p.Text)
		}
	}
}

// Pages that are made to hurt, or just badly.
func TestHTMLThatIsBroken(t *testing.T) {
	mb := 1 << 20
	for name, page := range map[string]string{
		"empty":             "",
		"no page":           "just words",
		"deep":              strings.Repeat("<div>", 200_000) + "words",
		"deep and closed":   strings.Repeat("<b>", 5000) + "words" + strings.Repeat("</b>", 5000),
		"unclosed":          "<p>words" + strings.Repeat("<p><b><i><table><tr><td>", 2000),
		"a long attribute":  `<p title="` + strings.Repeat("a", mb) + `">words</p><a href="http://x/` + strings.Repeat("a", mb) + `">link</a>`,
		"a long style":      `<p style="` + strings.Repeat("a:b;", mb/16) + `">words</p>`,
		"many attributes":   "<p " + strings.Repeat(`a1="b" `, 100_000) + ">words</p>",
		"many elements":     "words" + strings.Repeat("<p>a", 60_000),
		"many links":        "words" + strings.Repeat(`<a href="/x">a</a>`, 30_000),
		"a wide table":      `<table><tr><td colspan="1000000000" rowspan="1000000000">words</td></tr><tr><td>` + strings.Repeat("a", mb/4) + "</td></tr>" + strings.Repeat("<tr><td>a</td></tr>", 2000) + "</table>",
		"tables in tables":  strings.Repeat("<table><tr><td>", 150) + "words",
		"lists in lists":    strings.Repeat("<ul><li>", 200) + "words",
		"quotes in quotes":  strings.Repeat("<blockquote>", 300) + "words",
		"invalid UTF-8":     "<p>words \xff\xfe\xc3</p>",
		"NUL":               "<p>wor\x00ds words</p>",
		"an unclosed tag":   "<p>words<a href='",
		"an unclosed title": "words<title>" + strings.Repeat("a", mb/4),
		"entities":          "<p>words" + strings.Repeat("&notit;&#x110000;&#0;", 10_000),
		"blanks":            "<p>words" + strings.Repeat(" \u00a0\n", 80_000) + "</p>",
		"a frameset":        "<frameset><frame src=x></frameset><noframes>words</noframes>",
		"one long word":     "<p>words " + strings.Repeat("a", mb/4),
		"end tags alone":    strings.Repeat("</p></div></table>", 50_000) + "words",
		"forms in tables":   strings.Repeat("<table><form><input><td>words", 300),
		"fonts to adopt":    strings.Repeat("<a><p><b><div>", 120) + "words" + strings.Repeat("</a></b>", 120),
		"raw text":          "<p>words</p><plaintext>" + strings.Repeat("<p>", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, page, HTMLOptions{Max: 20_000})
			if strings.Contains(page, "words") && name != "a frameset" && name != "an unclosed title" && !strings.Contains(p.Text, "words") && !p.Cut {
				t.Errorf("the words are lost: %.200q", p.Text)
			}
			if utf8.RuneCountInString(p.Text) > 20_000 {
				t.Errorf("%d characters", utf8.RuneCountInString(p.Text))
			}
		})
	}
}

func TestHTMLIsCut(t *testing.T) {
	p := read(t, "<p>"+strings.Repeat("ж", 100)+"</p>", HTMLOptions{Max: 10})
	if p.Text != strings.Repeat("ж", 10) || !p.Cut {
		t.Errorf("%+v", p)
	}
	p, err := HTML(t.Context(), io.LimitReader(pages{}, 20<<20), HTMLOptions{Max: 100})
	if err != nil || !p.Cut {
		t.Error(p, err)
	}
	broken := errors.New("cut off")
	if _, err := HTML(t.Context(), io.MultiReader(strings.NewReader("<p>a"), failing{broken}), HTMLOptions{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type pages struct{}

func (pages) Read(p []byte) (int, error) { return copy(p, "<p>"+strings.Repeat("words ", 5000)), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestHTMLCharsets(t *testing.T) {
	for name, c := range map[string]struct{ page, contentType, want string }{
		"its own word":        {"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", "text/html", "Привет"},
		"its server's word":   {"<p>\x93\xfa\x96\x7b", "text/html; charset=shift_jis", "日本"},
		"an older way":        {`<meta http-equiv="Content-Type" content="text/html; charset=gbk"><p>` + "\xc4\xe3\xba\xc3", "", "你好"},
		"none, UTF-8 late":    {"<p>" + strings.Repeat("a", 5000) + " Grüße</p>", "text/html", "Grüße"},
		"none, Latin":         {"<p>Gr\xfc\xdfe</p>", "", "Grüße"},
		"UTF-16":              {"\xff\xfe<\x00p\x00>\x00\xfc\x00", "text/html", "ü"},
		"a wrong word":        {"<p>Grüße</p>", "text/html; charset=iso-8859-1", "Grüße"},
		"one that is unknown": {"<p>Gr\xfc\xdfe</p>", "text/html; charset=no-such-thing", "Grüße"},
	} {
		if p := read(t, c.page, HTMLOptions{ContentType: c.contentType}); !strings.Contains(p.Text, c.want) {
			t.Errorf("%s: %q", name, p.Text)
		}
	}
}

func TestTitles(t *testing.T) {
	for page, want := range map[string]string{
		"<title>A &amp; B</title><h1>C</h1>":                  "A & B",
		`<meta property="og:title" content="A  B"><h1>C</h1>`: "A B",
		"<h1>C <b>D</b></h1>":                                 "C D",
		"<svg><title>icon</title></svg><h1>C</h1>":            "C",
		"<p>x": "",
		"<title>" + strings.Repeat("ж", 1000) + "</title>":                 strings.Repeat("ж", 300),
		strings.Repeat("<div>", 1000) + "<title>flat</title><title>second": "flat",
	} {
		if p := read(t, page, HTMLOptions{}); p.Title != want {
			t.Errorf("%.60q: %q", page, p.Title)
		}
	}
}

func TestPlainHTML(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a<br>b": "a b", "<script>x</script>a &amp; b": "a & b", "<ol><li><a href=x>One</a>&nbsp;<font>Two</font></li>": "One Two", "\xffa\x00": "\uFFFDa\uFFFD",
		strings.Repeat("ж", 50): strings.Repeat("ж", 20),
	} {
		if got := PlainHTML(in, 20); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte("<title>x</title><article><p>"+long+"</p><table><tr><td>a<td>b</table></article>"), "text/html")
	f.Add([]byte("<p style='display:none'>\xff<a href='//x'>y</a><ul><li><pre>z"), "text/html; charset=utf-16")
	f.Add([]byte("<b><p><table><b><td></b><select><svg><desc><b>"), "")
	at, _ := url.Parse("https://example.com/")
	f.Fuzz(func(t *testing.T, page []byte, contentType string) {
		p := read(t, string(page), HTMLOptions{Base: at, ContentType: contentType, Max: 1000})
		if utf8.RuneCountInString(p.Text) > 1000 {
			t.Fatal("too long")
		}
	})
}

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a ": "a", "a  \n\n\n\n b": "a\n\n b", "a\r\nb": "a\nb", "a\u00a0\n b": "a\n b", "x" + strings.Repeat(" ", 50) + "y": "x  y", "a\n    code\n": "a\n    code", "a\t\tb": "a\t\tb",
	} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
