package toolbox

import (
	"strings"
	"unicode"

	"sentient/backend/tool"
)

// How much a word that a text shares with a plugin says, by where the plugin has it. A word that several plugins have is
// shared out among them.
const (
	weighHint     = 24 // the plugin's hint and name
	weighToolName = 12
	weighTold     = 4 // descriptions
)

// textLength is how much of a text is looked at, in bytes from its end.
const textLength = 4000

// index is what plugins and tools are found by.
type index struct {
	plugins map[*tool.Plugin]map[string]int
	tools   map[*tool.Tool]map[string]int
	holders map[string]int // how many plugins have a word
	joined  []string       // words of scripts that put no blanks between words
}

func indexOf(plugins []*tool.Plugin) index {
	x := index{plugins: map[*tool.Plugin]map[string]int{}, tools: map[*tool.Tool]map[string]int{}, holders: map[string]int{}}
	for _, p := range plugins {
		words := map[string]int{}
		note(words, p.Hint+" "+p.Name+" "+p.ID, weighHint)
		note(words, p.Description, weighTold)
		for _, t := range p.Tools {
			own := map[string]int{}
			note(own, t.Name, weighToolName)
			note(own, t.Description, weighTold)
			x.tools[t] = own
			for w, weight := range own {
				words[w] = max(words[w], weight)
			}
		}
		for w := range words {
			x.holders[w]++
			if isJoined(w) {
				x.joined = append(x.joined, w)
			}
		}
		x.plugins[p] = words
	}
	return x
}

func note(words map[string]int, text string, weight int) {
	for _, w := range stems(text) {
		words[w] = max(words[w], weight)
	}
}

// match is a text, looked up.
type match struct {
	x     index
	words map[string]bool
}

func (x index) match(text string) match {
	if len(text) > textLength {
		text = text[len(text)-textLength:]
	}
	m := match{x: x, words: map[string]bool{}}
	for _, w := range stems(text) {
		m.words[w] = true
	}
	if low := strings.ToLower(text); strings.Contains(low, "http://") || strings.Contains(low, "https://") || strings.Contains(low, "www.") {
		m.words["url"] = true
	}
	for _, w := range x.joined {
		if strings.Contains(text, w) {
			m.words[w] = true
		}
	}
	return m
}

func (m match) plugin(p *tool.Plugin) int { return m.score(m.x.plugins[p]) }
func (m match) tool(t *tool.Tool) int     { return m.score(m.x.tools[t]) }

func (m match) score(words map[string]int) int {
	sum := 0
	for w := range m.words {
		if weight := words[w]; weight > 0 {
			sum += max(weight/m.x.holders[w], 1)
		}
	}
	return sum
}

// stems gives the words of a text that say something, without their endings.
func stems(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	list := words[:0]
	for _, w := range words {
		if w = stem(w); w != "" && !common[w] {
			list = append(list, w)
		}
	}
	return list
}

// endings are cut from a word, one of each list, when at least three letters stay.
var endings = [][]struct{ end, put string }{{{"ies", "y"}, {"sses", "ss"}, {"ss", "ss"}, {"s", ""}}, {{"ing", ""}, {"ed", ""}, {"er", ""}, {"ly", ""}, {"e", ""}, {"n", ""}}}

// stem cuts endings. It need not be right, only the same for the forms of a word.
func stem(w string) string {
	if isJoined(w) {
		return w
	}
	for _, list := range endings {
		for _, e := range list {
			if root, ok := strings.CutSuffix(w, e.end); ok && len(root) >= 3 {
				w = root + e.put
				break
			}
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeioul", rune(w[n-1])) {
		w = w[:n-1] // planning, plan
	}
	return w
}

// isJoined reports whether a word is of a script that puts no blanks between words.
func isJoined(w string) bool {
	for _, r := range w {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) {
			return true
		}
	}
	return false
}

// common are stems that say nothing about what is needed.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a about all also am an and any are as at be been but by can could did do does for from get give go had has have
		he her here him his how i if in into is it its just know let like make may me more much must my no not now of on one only or other our out over
		please put s say see she should show so some something t take tell than that the their them then there these they this thing to too two up us use
		user using want was way we well were what when where which who why will with would you your name list new first last need it's i'm don't`) {
		set[stem(w)] = true
	}
	return set
}()
