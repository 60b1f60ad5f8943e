package outside

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWordsAreToldFromCodes(t *testing.T) {
	l := readLexicon()
	names := strings.Fields(`heidelberg schwarzwald montmartre kurfurstendamm shinjuku montparnasse bruschetta photosynthesis byzantine kowalski fernandez
		nakamura okonkwo lindqvist papadopoulos bergamo salamanca guadalajara ulaanbaatar cappadocia zermatt interlaken ljubljanica hemingway dostoevsky
		chopin debussy beethoven tchaikovsky kandinsky michelangelo rembrandt gaudi neuschwanstein thermodynamics serendipity mitochondria kubernetes
		terraform ansible grafana prometheus elasticsearch rabbitmq tensorflow pytorch numpy pandas jupyter matplotlib webpack bulgogi tiramisu ratatouille
		gorgonzola mozzarella prosciutto chardonnay marrakesh samarkand tbilisi yerevan baku almaty bishkek kathmandu pokhara colombo kandy galle`)
	missed := 0
	for _, n := range names {
		if !l.isWord(n) {
			missed++
			t.Logf("not a word: %s", n)
		}
	}
	if missed*100 > len(names)*12 {
		t.Errorf("%d of %d names read like codes", missed, len(names))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 5, 6, 8, 12} {
		wrong := 0
		for range 2000 {
			b := make([]byte, n)
			for i := range b {
				b[i] = 'a' + byte(r.IntN(26))
			}
			if l.isWord(string(b)) {
				wrong++
			}
		}
		t.Logf("random letters, %d: %.1f %% read like words", n, float64(wrong)/20)
		if n >= 8 && wrong > 100 {
			t.Errorf("%d of 2000 runs of %d letters read like words", wrong, n)
		}
	}
	for _, w := range strings.Fields("deliverables meetings organizations running happier parties studied booked translations quickly") {
		if !l.isCommon(w) {
			t.Errorf("%s is not common", w)
		}
	}
	for _, w := range strings.Fields("kowalski leukemia xq sarahs zzing") {
		if l.isCommon(w) {
			t.Errorf("%s is common", w)
		}
	}
}
