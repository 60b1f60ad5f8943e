package textkit

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sentient/backend/errs"
)

// Caps of a web page.
const (
	htmlMax      = 5 << 20 // bytes that are read
	htmlElements = 40_000  // more are read as plain text: what finds the article needs time out of proportion
	titleLength  = 300
	linkLength   = 120 // a longer address is left out: it costs more than it says
	articleLeast = 250 // characters: a shorter find is not the article
)

// HTMLOptions are what is known of a page.
type HTMLOptions struct {
	Base        *url.URL // where it is from; nil: links that are not whole are left out
	ContentType string   // what its server says it is; "" when unknown
	Max         int      // the most characters of text; 0: no limit
}

// Page is what a page says.
type Page struct {
	Title string // on one line, at most 300 characters; "" when it has none
	Text  string // Markdown
	Cut   bool   // there was more
}

// HTML gives the readable text of a web page: its article where it has one, else all that it shows. A page that nests too
// deep or has too many parts is read as plain text. Errors are those of r and a context's own.
func HTML(ctx context.Context, r io.Reader, o HTMLOptions) (Page, error) {
	data, err := io.ReadAll(io.LimitReader(r, htmlMax+1))
	if err != nil {
		return Page{}, err
	}
	p := Page{Cut: len(data) > htmlMax}
	data = data[:min(len(data), htmlMax)]
	text, err := Decode(data, o.ContentType)
	if err != nil {
		if errs.Code(err) != CodeNotText {
			return Page{}, err
		}
		text = clean(string(data)) // a stray NUL in a page that says it is one
	}
	if err := ctx.Err(); err != nil {
		return Page{}, err
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil || count(root) > htmlElements {
		p.Title, p.Text = flat(text)
	} else {
		p.Title = titleOf(root)
		if p.Text, err = article(ctx, root, o.Base); err != nil {
			return Page{}, err
		}
	}
	p.Text = clean(tidy(p.Text))
	if o.Max > 0 {
		part, cut := First(p.Text, o.Max)
		p.Text, p.Cut = part, p.Cut || cut
	}
	return p, nil
}

// article gives the Markdown of a page's article, or of all that the page shows where there is none.
func article(ctx context.Context, root *html.Node, at *url.URL) (string, error) {
	prune(root)
	main := root
	if found := readable(root, at); found != nil {
		main = found
	} else {
		dropChrome(root)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	plainLinks(main, at)
	text, err := markdown(ctx, main)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return shownText(main), nil
	}
	return text, nil
}

// readable finds the article; nil when the page has none, or what was found is too little of what the page shows.
func readable(root *html.Node, at *url.URL) (found *html.Node) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	a, err := readability.FromDocument(root, at) // works on a copy
	if err != nil || a.Node == nil {
		return nil
	}
	for n := range a.Node.Descendants() {
		n.DataAtom = atom.Lookup([]byte(n.Data)) // elements were renamed by their names alone
	}
	got := len(shownText(a.Node))
	if got < articleLeast || got*4 < len(shownText(root)) || tornTable(a.Node) {
		return nil
	}
	return a.Node
}

// tornTable reports whether there are rows without their table: the find is a part of what belongs together.
func tornTable(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Tr && !within(n, atom.Table) {
			return true
		}
	}
	return false
}

func within(n *html.Node, tag atom.Atom) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up.DataAtom == tag {
			return true
		}
	}
	return false
}

func markdown(ctx context.Context, n *html.Node) (text string, err error) {
	defer caught(&err, "page")
	stripAttributes(n)
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		// Cells are not padded: one long cell would lengthen all of its column.
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorNone), table.WithHeaderPromotion(true)),
	))
	out, err := c.ConvertNode(n, converter.WithContext(ctx))
	return string(out), err
}

func count(root *html.Node) int {
	n := 0
	for range root.Descendants() {
		n++
	}
	return n
}

// unread are elements that show nothing that can be read, or that are not the page's own text.
var unread = []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Math, atom.Canvas, atom.Audio,
	atom.Video, atom.Img, atom.Picture, atom.Map, atom.Link, atom.Meta, atom.Input, atom.Select, atom.Textarea, atom.Datalist, atom.Button, atom.Dialog, atom.Frameset}

// prune takes out what is never given: comments, what is not text, and what the page hides. Instructions to a model like
// to stand where no person sees them.
func prune(root *html.Node) {
	removeAll(root, func(n *html.Node) bool {
		return n.Type == html.CommentNode || n.Type == html.ElementNode && (slices.Contains(unread, n.DataAtom) || hides(n))
	})
}

// dropChrome takes out what is around a page's text, for a page without an article.
func dropChrome(root *html.Node) {
	if len(shownText(root)) < articleLeast {
		return
	}
	removeAll(root, func(n *html.Node) bool {
		return n.Type == html.ElementNode && (n.DataAtom == atom.Nav || n.DataAtom == atom.Footer || n.DataAtom == atom.Aside)
	})
}

func removeAll(root *html.Node, which func(*html.Node) bool) {
	var gone []*html.Node
	for n := range root.Descendants() {
		if which(n) {
			gone = append(gone, n)
		}
	}
	for _, n := range gone {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// hiding are the ways in which a style makes an element unseen, without blanks.
var hiding = regexp.MustCompile(`(^|;)(` + strings.Join([]string{
	`display:none`, `visibility:(hidden|collapse)`, `opacity:(0|0?\.0+)%?(;|!|$)`, `color:transparent`, `content-visibility:hidden`,
	`(left|top|right|bottom|text-indent):-\d{3,}`, `margin(-left|-top|-right)?:-\d{4,}`,
	`clip:rect\((0|1px)`, `clip-path:inset\((50|100)%`, `transform:scale[xy]?\(0(\.0+)?[,)]`, `(max-)?(height|width):[01](px)?;(.*;)?overflow:hidden`,
}, "|") + `)`)

// noSize is a style that shrinks text to nothing, unless what is inside sets a size of its own: newsletters do that.
var (
	noSize = regexp.MustCompile(`(^|;)font-size:0(\.0+)?(px|pt|em|rem|%)?(;|!|$)`)
	size   = regexp.MustCompile(`(^|;)font-size:(0?\.[1-9]|[1-9a-z])`)
)

func hides(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return !strings.EqualFold(a.Val, "until-found")
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		}
	}
	style := styleOf(n)
	return hiding.MatchString(style) || noSize.MatchString(style) && !setsSize(n)
}

// styleOf gives an element's own style, without blanks.
func styleOf(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "style" {
			return strings.ToLower(strings.Join(strings.Fields(a.Val[:min(len(a.Val), 4000)]), ""))
		}
	}
	return ""
}

func setsSize(n *html.Node) bool {
	for inner := range n.Descendants() {
		if size.MatchString(styleOf(inner)) {
			return true
		}
	}
	return false
}

// plainLinks keeps links that are short and lead to a web page, whole; of others only the text stays.
func plainLinks(root *html.Node, at *url.URL) {
	var links []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == atom.A {
			links = append(links, n)
		}
	}
	for _, n := range links {
		address := linkOf(n, at)
		text := strings.TrimSpace(shownText(n))
		if address == "" || text == "" || len(text) > 2*linkLength || strings.ContainsAny(text, "[]\n") {
			n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
			continue
		}
		n.Attr = []html.Attribute{{Key: "href", Val: address}}
	}
}

func linkOf(n *html.Node, at *url.URL) string {
	for _, a := range n.Attr {
		if a.Key != "href" || len(a.Val) > 4*linkLength {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(a.Val))
		if err != nil || strings.HasPrefix(strings.TrimSpace(a.Val), "#") {
			return ""
		}
		if at != nil {
			u = at.ResolveReference(u)
		}
		if s := u.String(); (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(s) <= linkLength && !strings.ContainsAny(s, "() ") {
			return s
		}
	}
	return ""
}

// stripAttributes leaves only links their addresses: a table that spans a billion columns, or a language of 1 MB, is
// nothing to read.
func stripAttributes(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom != atom.A {
			n.Attr = nil
		}
	}
}

// blocks end a line in plain text.
var blocks = []atom.Atom{atom.P, atom.Div, atom.Br, atom.Li, atom.Ul, atom.Ol, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Section,
	atom.Article, atom.Header, atom.Footer, atom.Nav, atom.Main, atom.Aside, atom.Pre, atom.Blockquote, atom.Dl, atom.Dt, atom.Dd, atom.Hr, atom.Form, atom.Figure, atom.Title}

// shownText gives the text below a node, a line a block.
func shownText(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data)
		case html.ElementNode:
			if slices.Contains(blocks, n.DataAtom) {
				b.WriteByte('\n')
			} else if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
				b.WriteByte('\t')
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// flat gives the text of a page that cannot be taken apart, by its tags alone.
func flat(text string) (title, body string) {
	z := html.NewTokenizer(strings.NewReader(text))
	var b bytes.Buffer
	var skip atom.Atom // the element that is left out
	inTitle := false
	for {
		kind := z.Next()
		if kind == html.ErrorToken { // the end: a string gives no other error
			return oneLine(title), b.String()
		}
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		switch kind {
		case html.TextToken:
			switch {
			case skip != 0:
			case inTitle:
				title += string(z.Text())
			default:
				b.Write(z.Text())
			}
		case html.StartTagToken:
			inTitle = tag == atom.Title && title == ""
			if skip == 0 && slices.Contains(unread, tag) && !slices.Contains(alone, tag) {
				skip = tag
			}
			breakLine(&b, tag)
		case html.EndTagToken:
			inTitle = false
			if tag == skip {
				skip = 0
			}
			breakLine(&b, tag)
		}
	}
}

// alone are elements without an end.
var alone = []atom.Atom{atom.Img, atom.Link, atom.Meta, atom.Input, atom.Embed, atom.Frameset}

func breakLine(b *bytes.Buffer, tag atom.Atom) {
	if slices.Contains(blocks, tag) {
		b.WriteByte('\n')
	}
}

// titleOf gives a page's own title: its title element, else what it calls itself to others, else its first heading.
func titleOf(root *html.Node) string {
	var title, og, heading string
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Title && title == "" && (n.Parent == nil || n.Parent.DataAtom == atom.Head):
			title = oneLine(shownText(n))
		case n.DataAtom == atom.Meta && og == "":
			og = oneLine(metaTitle(n))
		case n.DataAtom == atom.H1 && heading == "":
			heading = oneLine(shownText(n))
		}
	}
	for _, s := range []string{title, og, heading} {
		if s != "" {
			return s
		}
	}
	return ""
}

func metaTitle(n *html.Node) string {
	name, content := "", ""
	for _, a := range n.Attr {
		switch a.Key {
		case "property", "name":
			name = a.Val
		case "content":
			content = a.Val
		}
	}
	if name == "og:title" || name == "twitter:title" {
		return content
	}
	return ""
}

func oneLine(s string) string {
	s, _ = First(clean(s), 8*titleLength)
	s, _ = First(strings.Join(strings.Fields(s), " "), titleLength)
	return s
}

// tidy takes out blanks that say nothing: at the ends of lines, more than one empty line, and long runs.
func tidy(s string) string {
	const longRun = 40
	var b strings.Builder
	b.Grow(len(s))
	blanks, lines := 0, 2 // blanks held back; line ends just written
	from := 0             // where the blanks begin
	for i, r := range s {
		switch r {
		case ' ', '\t', '\u00a0':
			if blanks == 0 {
				from = i
			}
			blanks++
			continue
		case '\r':
			continue
		case '\n':
			if blanks = 0; lines < 2 {
				b.WriteByte('\n')
			}
			lines++
			continue
		}
		if blanks > longRun {
			b.WriteString("  ")
		} else if blanks > 0 {
			b.WriteString(s[from:i])
		}
		blanks, lines = 0, 0
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// PlainHTML gives a piece of HTML, such as a feed's summary, as text on one line of at most max characters.
func PlainHTML(piece string, max int) string {
	if len(piece) > htmlMax {
		piece = piece[:htmlMax]
	}
	_, text := flat(clean(piece))
	text, _ = First(strings.Join(strings.Fields(text), " "), max)
	return clean(text)
}
